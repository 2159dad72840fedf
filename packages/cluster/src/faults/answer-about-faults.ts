import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { decode, type Document } from '@shardlab/bson'
import { replyOf } from '../answer-command.js'
import { OptionError } from '../option-error.js'
import type { FaultInput } from './fault-data.js'
import type { Faults } from './faults.js'

/** Serves the verbs of the command `shardlab` about faults. */
export function answerAboutFaults(
  faults: Faults,
  { verb, body }: RequestOf<'cluster.command'>,
): Promise<ReplyOf<'cluster.command'>> {
  return replyOf(() => run(faults, verb, decode(body, { promoteLongs: true })))
}

async function run(faults: Faults, verb: string, command: Document): Promise<Document> {
  switch (verb) {
    case 'apply':
      return faults.applyInBackground(faultOf(command['fault']))
    case 'list':
      return {
        faults: faults.list().map(({ id, fault, state, members, beginsAtMs, healsAtMs, strikes }) => ({
          id,
          fault,
          state,
          members,
          beginsAt: new Date(beginsAtMs),
          healsAt: healsAtMs === null ? null : new Date(healsAtMs),
          strikes,
        })),
      }
    case 'heal':
      return { healed: await faults.healInBackground(idOf(command['id'])) }
    case 'reached':
      return faults.reachedInBackground(idToWaitFor(command['id']))
    default:
      throw new OptionError(`unknown verb: ${verb}.`)
  }
}

function faultOf(fault: unknown): FaultInput | string {
  if (typeof fault === 'string' || (typeof fault === 'object' && fault !== null)) return fault as FaultInput | string
  throw new OptionError("apply needs a fault: a text such as 'crash shard02 for 5s', or a document.")
}

function idOf(id: unknown): string | undefined {
  if (id === undefined || id === null) return undefined
  if (typeof id === 'string') return id
  throw new OptionError('heal needs the id of a fault, as list shows it; without an id it heals all faults.')
}

function idToWaitFor(id: unknown): string {
  if (typeof id === 'string') return id
  throw new OptionError('reached needs the id of a fault at a step, as apply returned it.')
}
