// The module `formdata` of jslib: bodies of the type multipart/form-data.

function bytesOf(value) {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (Array.isArray(value)) return Uint8Array.from(value);
  return new TextEncoder().encode(String(value));
}

const quoted = (text) => String(text).replace(/\r\n?|\n/g, '%0D%0A').replace(/"/g, '%22');

export class FormData {
  constructor() {
    this.__parts = [];
    let random = '';
    while (random.length < 24) random += Math.floor(Math.random() * 36).toString(36);
    this.boundary = `----TorrFormDataBoundary${random}`;
  }

  append(name, value, filename) {
    if (arguments.length < 2) throw new SyntaxError('append() needs a name and a value');
    const part = { name: String(name), value, filename };
    if (value !== null && typeof value === 'object' && 'data' in value) {
      part.value = value.data;
      part.filename = filename ?? value.filename ?? 'blob';
      part.type = value.content_type || 'application/octet-stream';
    } else if (filename !== undefined || value instanceof ArrayBuffer || ArrayBuffer.isView(value)) {
      part.filename = filename ?? 'blob';
      part.type = 'application/octet-stream';
    }
    this.__parts.push(part);
  }

  set(name, ...rest) {
    this.delete(name);
    this.append(name, ...rest);
  }

  delete(name) {
    this.__parts = this.__parts.filter((part) => part.name !== String(name));
  }

  get(name) {
    return this.getAll(name)[0] ?? null;
  }

  getAll(name) {
    return this.__parts.filter((part) => part.name === String(name)).map((part) => part.value);
  }

  has(name) {
    return this.__parts.some((part) => part.name === String(name));
  }

  body() {
    const pieces = [];
    for (const { name, value, filename, type } of this.__parts) {
      const file = filename === undefined ? '' : `; filename="${quoted(filename)}"\r\nContent-Type: ${type}`;
      pieces.push(bytesOf(`--${this.boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${file}\r\n\r\n`));
      pieces.push(bytesOf(value), bytesOf('\r\n'));
    }
    pieces.push(bytesOf(`--${this.boundary}--\r\n`));
    const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole.buffer;
  }
}
