/** What clients send: RFC 5802, section 7, read as generously as the server does. */
import { AuthenticationError } from './authentication-error.js'

export interface ClientFirst {
  readonly user: string
  readonly nonce: string
  /** The part that is signed. */
  readonly bare: string
}

export interface ClientFinal {
  readonly nonce: string
  /** In base64. */
  readonly proof: string
  /** The part that is signed. */
  readonly withoutProof: string
}

const nonceLengthMin = 4

/** `n,a=name,n=name,r=nonce`. @throws AuthenticationError */
export function readFirst(payload: string): ClientFirst {
  const binding = payload.indexOf(',')
  const header = payload.indexOf(',', binding + 1)
  if (binding < 0 || header < 0) throw new AuthenticationError('the first message has too few parts')
  const flag = payload.slice(0, binding)
  if (flag.startsWith('p=')) throw new AuthenticationError('channel binding is not supported')
  if (flag !== 'n' && flag !== 'y') throw new AuthenticationError('the first message has a wrong prefix')
  const authorized = payload.slice(binding + 1, header)
  if (authorized !== '' && !authorized.startsWith('a=')) throw new AuthenticationError('the authzid is malformed')
  const bare = payload.slice(header + 1)
  if (bare.startsWith('m=')) throw new AuthenticationError('mandatory extensions are not supported')
  const [name, nonce] = firstTwoParts(bare)
  if (name === undefined || nonce === undefined) throw new AuthenticationError('the first message has too few parts')
  if (!name.startsWith('n=') || name.length < 3) throw new AuthenticationError('the user name is malformed')
  const user = name.slice(2).replaceAll('=2C', ',').replaceAll('=3D', '=')
  if (authorized !== '' && authorized.slice(2) !== user) throw new AuthenticationError('the authzid is another user')
  return { user, nonce: nonceOf(nonce), bare }
}

/** `c=binding,r=nonce,p=proof`. @throws AuthenticationError */
export function readFinal(payload: string): ClientFinal {
  const end = payload.lastIndexOf(',')
  const proof = payload.slice(end + 1)
  if (end < 0 || !proof.startsWith('p=') || proof.length < 3) throw new AuthenticationError('the proof is malformed')
  const withoutProof = payload.slice(0, end)
  const [binding, nonce] = firstTwoParts(withoutProof)
  if (binding === undefined || nonce === undefined) throw new AuthenticationError('the last message has too few parts')
  if (!binding.startsWith('c=') || binding.length < 3) throw new AuthenticationError('the channel binding is malformed')
  return { nonce: nonceOf(nonce), proof: proof.slice(2), withoutProof }
}

/** Not all of them: a client without user may send millions. */
function firstTwoParts(text: string): readonly (string | undefined)[] {
  const part = /[^,]+/g
  return [part.exec(text)?.[0], part.exec(text)?.[0]]
}

function nonceOf(part: string): string {
  if (!part.startsWith('r=') || part.length < 2 + nonceLengthMin)
    throw new AuthenticationError('the nonce is malformed')
  return part.slice(2)
}
