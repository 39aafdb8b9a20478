import { answer } from './lib/answer.js';
console.log('the answer');
export default answer;
