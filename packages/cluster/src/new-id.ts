import { createShortId } from '@shardlab/actor'
import { randomBytes } from 'node:crypto'

/** Eight letters and digits. */
export const newId = createShortId({ bytes: (length) => randomBytes(length) })
