import { DocumentWriter } from '@shardlab/bson'
import type { LogChange } from './log-change.js'

/** The first entry of an oplog. */
export const initiatingSet = 'initiating set'
/** The first entry of a term. */
export const newPrimary = 'new primary'

/** An entry without effect. */
export function noopOf(message: string): LogChange {
  const object = new DocumentWriter(64).string('msg', message).finish()
  return { op: 'n', ns: '', uuid: null, object, id: null, session: null }
}
