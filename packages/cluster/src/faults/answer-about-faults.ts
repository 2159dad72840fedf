import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { CommandError, decode, encode, errorDocument, type Document } from '@shardlab/bson'
import { OptionError } from '../option-error.js'
import type { Faults } from './faults.js'
import type { FaultInput } from './fault-data.js'

/** Serves apply, list and heal of the command `shardlab`. */
export async function answerAboutFaults(
  faults: Faults,
  { verb, body }: RequestOf<'cluster.faults'>,
): Promise<ReplyOf<'cluster.faults'>> {
  try {
    return { reply: encode(await run(faults, verb, decode(body, { promoteLongs: true }))), error: null }
  } catch (error) {
    const sentence = error instanceof Error ? error.message : String(error)
    const failure = new CommandError(error instanceof OptionError ? 'BadValue' : 'OperationFailed', sentence)
    return { reply: encode({}), error: errorDocument(failure) }
  }
}

async function run(faults: Faults, verb: string, command: Document): Promise<Document> {
  switch (verb) {
    case 'apply':
      return faults.applyInBackground(faultOf(command['fault']))
    case 'list':
      return {
        faults: faults.list().map(({ id, fault, state, beginsAtMs, healsAtMs, strikes }) => ({
          id,
          fault,
          state,
          beginsAt: new Date(beginsAtMs),
          healsAt: healsAtMs === null ? null : new Date(healsAtMs),
          strikes,
        })),
      }
    case 'heal':
      return { healed: await faults.healInBackground(idOf(command['id'])) }
    default:
      throw new OptionError(`unknown verb: ${verb}; use apply, list or heal.`)
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
