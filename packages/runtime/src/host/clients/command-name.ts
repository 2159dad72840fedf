const hellos = ['hello', 'isMaster', 'ismaster']
const firstNameAt = 5

export function isHello(body: Uint8Array): boolean {
  return hellos.some((name) => isNamed(body, name))
}

export function isShardlab(body: Uint8Array): boolean {
  return isNamed(body, 'shardlab')
}

/** Without a string of the name, for commands of clients. */
function isNamed(body: Uint8Array, name: string): boolean {
  if (body[firstNameAt + name.length] !== 0) return false
  for (let i = 0; i < name.length; i++) if (body[firstNameAt + i] !== name.charCodeAt(i)) return false
  return true
}
