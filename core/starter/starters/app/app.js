const items = [];

function render() {
  const list = document.getElementById('list');
  list.replaceChildren(...items.map((item) => {
    const li = document.createElement('li');
    li.textContent = item;
    return li;
  }));
}

document.getElementById('form').addEventListener('submit', (event) => {
  event.preventDefault();
  const input = document.getElementById('name');
  items.push(input.value);
  input.value = '';
  render();
});

render();
