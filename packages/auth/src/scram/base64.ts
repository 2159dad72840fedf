/** Texts that clients send. Server: util/base64.cpp. */
import { CommandError } from '@shardlab/bson'

const complete = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/**
 * Unlike Node.js, refuses a text that is not base64.
 * @throws CommandError 10270, 40537
 */
export function decodeBase64(text: string): Buffer {
  if (text.length % 4 !== 0) throw new CommandError(10270, 'invalid base64')
  if (!complete.test(text)) throw new CommandError(40537, 'Invalid base64 character')
  return Buffer.from(text, 'base64')
}
