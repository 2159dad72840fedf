/** `GET `, the first bytes of an HTTP request, read as the length of a message. */
export const httpGreeting = 0x2054_4547

const text = 'It looks like you are trying to access MongoDB over HTTP on the native driver port.\r\n'

export const httpReply: Uint8Array = Buffer.from(
  `HTTP/1.0 200 OK\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  'latin1',
)
