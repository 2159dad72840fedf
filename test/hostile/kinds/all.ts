import type { Random } from '@shardlab/actor'
import { bsonKinds } from './bson.js'
import { commandKinds } from './commands.js'
import { compressionKinds } from './compression.js'
import { headerKinds } from './headers.js'
import type { Kind } from './kind.js'
import { msgKinds } from './op-msg.js'
import { queryKinds } from './op-query.js'

export const kinds: readonly Kind[] = [
  ...headerKinds,
  ...msgKinds,
  ...queryKinds,
  ...compressionKinds,
  ...bsonKinds,
  ...commandKinds,
]

const totalWeight = kinds.reduce((sum, { weight }) => sum + weight, 0)

export function pickKind(random: Random): Kind {
  let left = random.fraction() * totalWeight
  for (const kind of kinds) if ((left -= kind.weight) < 0) return kind
  return kinds.at(-1)!
}
