/** MD5 of several pieces, as in the server's dbHash. */
import { md5 } from '@noble/hashes/legacy.js'

export class Md5 {
  readonly #hash = md5.create()

  add(bytes: Uint8Array): this {
    this.#hash.update(bytes)
    return this
  }

  /** The digest in hexadecimal. Call it once. */
  text(): string {
    return Buffer.from(this.#hash.digest()).toString('hex')
  }
}
