/** MD5 of many pieces, as the server's dbHash gives it. */
import { md5 } from '@noble/hashes/legacy.js'

/** Takes pieces one after the other; {@link text} ends it. */
export class Md5 {
  readonly #hash = md5.create()

  add(bytes: Uint8Array): this {
    this.#hash.update(bytes)
    return this
  }

  /** 32 hexadecimal digits. Called once. */
  text(): string {
    return Buffer.from(this.#hash.digest()).toString('hex')
  }
}
