import { randomBytes } from 'node:crypto'
import { createShortId } from '@shardlab/actor'

export const newRunId = createShortId({ bytes: (length) => randomBytes(length) })
