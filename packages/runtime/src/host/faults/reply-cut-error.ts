/** Makes the gateway send half of this reply and end the connection. */
export class ReplyCutError extends Error {
  readonly body: Uint8Array
  constructor(body: Uint8Array) {
    super('a fault cut the reply')
    this.name = 'ReplyCutError'
    this.body = body
  }
}
