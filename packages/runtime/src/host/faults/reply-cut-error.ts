/** The client is to get half of this reply document, and then the end of its connection. */
export class ReplyCutError extends Error {
  readonly body: Uint8Array
  constructor(body: Uint8Array) {
    super('a fault cut the reply')
    this.name = 'ReplyCutError'
    this.body = body
  }
}
