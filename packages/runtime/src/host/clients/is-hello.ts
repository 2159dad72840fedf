const names = ['hello', 'isMaster', 'ismaster']
const firstNameAt = 5

export function isHello(body: Uint8Array): boolean {
  const end = body.indexOf(0, firstNameAt)
  const length = end - firstNameAt
  return names.some(
    (name) =>
      name.length === length &&
      Buffer.from(body.buffer, body.byteOffset + firstNameAt, length).toString('latin1') === name,
  )
}
