// Web Audio without sound: every node can be made, connected and started, time goes on,
// what was started ends, and nothing is heard. The console says so once.
(function (host) {
  'use strict';
  const { page } = host;
  const Target = page.target;

  const names = ['AudioContext', 'webkitAudioContext', 'OfflineAudioContext', 'BaseAudioContext', 'AudioNode', 'AudioScheduledSourceNode', 'AudioParam', 'AudioBuffer'];
  // Kinds of node: their parameters, and other members.
  const kinds = {
    Gain: { gain: 1 },
    Oscillator: { frequency: 440, detune: 0, _: { type: 'sine' } },
    BufferSource: { playbackRate: 1, detune: 0, _: { buffer: null, loop: false, loopStart: 0, loopEnd: 0 } },
    ConstantSource: { offset: 1 },
    BiquadFilter: { frequency: 350, detune: 0, Q: 1, gain: 0, _: { type: 'lowpass' } },
    Delay: { delayTime: 0 },
    StereoPanner: { pan: 0 },
    Panner: { positionX: 0, positionY: 0, positionZ: 0, orientationX: 1, orientationY: 0, orientationZ: 0, _: { panningModel: 'equalpower', distanceModel: 'inverse', refDistance: 1, maxDistance: 10000, rolloffFactor: 1 } },
    DynamicsCompressor: { threshold: -24, knee: 30, ratio: 12, attack: 0.003, release: 0.25, _: { reduction: 0 } },
    WaveShaper: { _: { curve: null, oversample: 'none' } },
    Convolver: { _: { buffer: null, normalize: true } },
    Analyser: { _: { fftSize: 2048, minDecibels: -100, maxDecibels: -30, smoothingTimeConstant: 0.8 } },
    ChannelSplitter: {}, ChannelMerger: {}, ScriptProcessor: { _: { bufferSize: 1024, onaudioprocess: null } },
    MediaElementSource: {}, MediaStreamSource: {}, MediaStreamDestination: { _: { stream: null } }, IIRFilter: {},
  };
  const nodeName = (kind) => ({ BufferSource: 'AudioBufferSourceNode', MediaElementSource: 'MediaElementAudioSourceNode', MediaStreamSource: 'MediaStreamAudioSourceNode', MediaStreamDestination: 'MediaStreamAudioDestinationNode' })[kind] ?? `${kind}Node`;
  const scheduled = /^(Oscillator|BufferSource|ConstantSource)$/;

  const make = () => {
    class AudioParam {
      constructor(value) {
        Object.assign(this, { value, defaultValue: value, minValue: -3.4028234663852886e38, maxValue: 3.4028234663852886e38, automationRate: 'a-rate' });
      }
      cancelScheduledValues() {
        return this;
      }
      cancelAndHoldAtTime() {
        return this;
      }
    }
    const finite = (method, v) => {
      if (!Number.isFinite(+v)) throw new TypeError(`Failed to execute '${method}' on 'AudioParam': The provided float value is non-finite.`);
    };
    for (const name of ['setValueAtTime', 'linearRampToValueAtTime', 'exponentialRampToValueAtTime', 'setTargetAtTime', 'setValueCurveAtTime']) {
      AudioParam.prototype[name] = function (value, ...times) {
        if (name !== 'setValueCurveAtTime') finite(name, value);
        for (const t of times) finite(name, t);
        if (name === 'exponentialRampToValueAtTime' && +value === 0) {
          throw new RangeError(`Failed to execute '${name}' on 'AudioParam': The float target value provided (0) should not be in the range (-1.40130e-45, 1.40130e-45).`);
        }
        if (name !== 'setValueCurveAtTime') this.value = +value;
        return this;
      };
    }

    class AudioNode extends Target {
      constructor(context, members = {}) {
        super();
        const { _: plain = {}, ...params } = members;
        Object.assign(this, { context, numberOfInputs: 1, numberOfOutputs: 1, channelCount: 2, channelCountMode: 'max', channelInterpretation: 'speakers' }, plain);
        for (const name of host.keys(params)) this[name] = new AudioParam(params[name]);
      }
      connect(to) {
        if (!(to instanceof AudioNode) && !(to instanceof AudioParam)) throw new TypeError("Failed to execute 'connect' on 'AudioNode': Overload resolution failed.");
        return to instanceof AudioNode ? to : undefined;
      }
      disconnect() {}
    }
    class AudioScheduledSourceNode extends AudioNode {
      #started = false;
      #stopped = false;
      onended = null;
      #end(at) {
        this.#stopped = true;
        setTimeout(() => this._tell('ended'), Math.max(0, (at - this.context.currentTime) * 1000));
      }
      start(when = 0) {
        if (this.#started) throw new DOMException(`Failed to execute 'start' on '${this.constructor.name}': cannot call start more than once.`, 'InvalidStateError');
        this.#started = true;
        if (this.buffer && !this.loop) this.#end(Math.max(+when, this.context.currentTime) + this.buffer.duration);
      }
      stop(when = 0) {
        if (!this.#started) throw new DOMException(`Failed to execute 'stop' on '${this.constructor.name}': cannot call stop without calling start first.`, 'InvalidStateError');
        if (!this.#stopped) this.#end(+when);
      }
      setPeriodicWave() {}
    }
    const nodes = {};
    for (const [kind, members] of Object.entries(kinds)) {
      const Base = scheduled.test(kind) ? AudioScheduledSourceNode : AudioNode;
      const name = nodeName(kind);
      nodes[kind] = class extends Base {
        constructor(context, options = {}) {
          super(context, members);
          for (const key of host.keys(options)) {
            if (this[key] instanceof AudioParam) this[key].value = +options[key];
            else if (key in this) this[key] = options[key];
          }
        }
      };
      Object.defineProperty(nodes[kind], 'name', { value: name, configurable: true });
      host.tag(nodes[kind], name);
    }
    const analyser = nodes.Analyser.prototype;
    Object.defineProperty(analyser, 'frequencyBinCount', {
      get() {
        return this.fftSize / 2;
      },
      configurable: true,
    });
    analyser.getByteFrequencyData = (array) => void array.fill(0);
    analyser.getByteTimeDomainData = (array) => void array.fill(128);
    analyser.getFloatTimeDomainData = (array) => void array.fill(0);
    analyser.getFloatFrequencyData = (array) => void array.fill(-Infinity);
    nodes.BiquadFilter.prototype.getFrequencyResponse = () => {};

    class AudioBuffer {
      #channels;
      constructor({ numberOfChannels = 1, length, sampleRate }) {
        if (!(length > 0)) throw new DOMException('the length of an AudioBuffer must be more than 0', 'NotSupportedError');
        Object.assign(this, { numberOfChannels, length, sampleRate, duration: length / sampleRate });
        this.#channels = Array.from({ length: numberOfChannels }, () => new Float32Array(length));
      }
      getChannelData(i) {
        if (!this.#channels[i]) throw new DOMException(`there is no channel ${i}`, 'IndexSizeError');
        return this.#channels[i];
      }
      copyToChannel(from, i, start = 0) {
        this.getChannelData(i).set(from.subarray(0, this.length - start), start);
      }
      copyFromChannel(to, i, start = 0) {
        to.set(this.getChannelData(i).subarray(start, start + to.length));
      }
    }

    class BaseAudioContext extends Target {
      #began = performance.now();
      onstatechange = null;
      sampleRate = 44100;
      state = 'running';
      constructor() {
        super();
        page.absent('sound is not heard here: Web Audio runs silently');
        this.destination = Object.assign(new AudioNode(this), { numberOfOutputs: 0, maxChannelCount: 2 });
        this.listener = Object.assign({ setPosition() {}, setOrientation() {} }, Object.fromEntries(['positionX', 'positionY', 'positionZ', 'forwardX', 'forwardY', 'forwardZ', 'upX', 'upY', 'upZ'].map((k) => [k, new AudioParam(0)])));
        this.audioWorklet = { addModule: async () => {} };
      }
      get currentTime() {
        return (performance.now() - this.#began) / 1000;
      }
      createBuffer(numberOfChannels, length, sampleRate) {
        return new AudioBuffer({ numberOfChannels, length, sampleRate });
      }
      createPeriodicWave() {
        return {};
      }
      decodeAudioData(bytes, ok) {
        const buffer = new AudioBuffer({ numberOfChannels: 2, length: this.sampleRate, sampleRate: this.sampleRate });
        ok?.(buffer);
        return Promise.resolve(buffer);
      }
    }
    for (const kind of host.keys(kinds)) {
      BaseAudioContext.prototype[`create${kind}`] = function (argument) {
        const node = new nodes[kind](this);
        if (kind === 'Delay') node.delayTime.maxValue = argument ?? 1;
        return node;
      };
    }
    class AudioContext extends BaseAudioContext {
      baseLatency = 0.01;
      outputLatency = 0.02;
      async #to(state) {
        if (this.state === 'closed') throw new DOMException('the AudioContext is closed', 'InvalidStateError');
        if (this.state !== state) {
          this.state = state;
          this._tell('statechange');
        }
      }
      resume() {
        return this.#to('running');
      }
      suspend() {
        return this.#to('suspended');
      }
      close() {
        return this.#to('closed');
      }
      getOutputTimestamp() {
        return { contextTime: this.currentTime, performanceTime: performance.now() };
      }
    }
    class OfflineAudioContext extends BaseAudioContext {
      oncomplete = null;
      #shape;
      constructor(channels, length, sampleRate) {
        super();
        this.#shape = typeof channels === 'object' ? channels : { numberOfChannels: channels, length, sampleRate };
        this.sampleRate = this.#shape.sampleRate;
      }
      async startRendering() {
        const renderedBuffer = new AudioBuffer(this.#shape);
        this._tell('complete', { renderedBuffer });
        return renderedBuffer;
      }
    }
    const out = { BaseAudioContext, AudioContext, OfflineAudioContext, AudioNode, AudioScheduledSourceNode, AudioParam, AudioBuffer };
    for (const [name, cls] of Object.entries(out)) host.tag(cls, name);
    for (const cls of Object.values(nodes)) out[cls.name] = cls;
    return { ...out, webkitAudioContext: AudioContext };
  };
  page.lazy([...names, ...host.keys(kinds).map(nodeName)], make);
})
