/** Creates, moves, renames, drops and recreates collections. Dropped documents must stay gone. */
import type { Random } from '@shardlab/actor'
import type { Code } from '../client/errors.js'
import type { AnsweredCommand, SwarmClient } from '../client/swarm-client.js'
import { pick } from '../draw.js'
import { finding } from '../finding.js'
import { Activity } from './activity.js'
import { codes } from './codes.js'

const livesMax = 12

export class ShortLived extends Activity {
  readonly name = 'short-lived'
  #rounds = 0
  /** Counts commands that were repeated: an attempt without answer may be executed rounds later. */
  #generation = 0
  #mayLoseDatabase = false

  async run(): Promise<void> {
    const random = this.world.random.fork('short lives')
    const client = this.world.client('short lives')
    for (let i = 0; i < livesMax && this.world.pace.isAnyClientWorking && !this.#mayLoseDatabase; i++) {
      await this.#live(client, random)
      await client.pause(100)
    }
  }

  async #live(client: SwarmClient, random: Random): Promise<void> {
    const round = ++this.#rounds
    const { droppingMissingCollection } = this.world.behaviours
    const suffix = this.#generation === 0 ? '' : this.#generation
    let ns = `fleeting${suffix}`
    const isSharded = random.chance(2, 3)
    if (isSharded) {
      const key = random.chance(1, 2) ? { _id: 'hashed' } : { _id: 1 }
      // Until 2.6 a repetition fails without a code.
      const twice: readonly Code[] = this.world.behaviours.enablingTwiceFails ? [undefined] : []
      await client.untilDone({ enableSharding: 'short', $db: 'admin' }, twice)
      const command = { shardCollection: `short.${ns}`, key, $db: 'admin' }
      // A shard was removed meanwhile, or a router with frozen routes uses the database of an
      // earlier life.
      const again: readonly Code[] = [codes.shardNotFound, codes.illegalOperation, codes.namespaceNotFound]
      const isAgain = async (): Promise<boolean> => {
        const { code } = await client.untilDone(command, [codes.alreadyInitialized, ...twice, ...again])
        return code !== null && again.includes(code)
      }
      while (await isAgain()) await client.pause(50)
    }
    const documents = Array.from({ length: 8 }, (_, i) => ({ _id: round * 100 + i, round }))
    // A change of the primary shard loses the retry history.
    await client.retryably(
      { insert: ns, documents, $db: 'short' },
      isSharded ? [] : [codes.duplicateKey],
      isSharded ? ({ n }) => n as number : null,
    )
    await this.#expect(client, ns, documents.length, `after insert in round ${round}`)
    if (isSharded) {
      const find = { _id: documents[0]!._id }
      const to = pick(random, this.world.cluster.shards)
      // Any outcome is allowed.
      await client.once({ moveChunk: `short.${ns}`, find, to, $db: 'admin' })
    }
    if ((!isSharded || this.world.behaviours.shardedCollectionsCanBeRenamed) && random.chance(1, 2)) {
      const to = `renamed${suffix}`
      const command = { renameCollection: `short.${ns}`, to: `short.${to}`, dropTarget: true, $db: 'admin' }
      this.#note(await client.untilDone(command, [codes.namespaceNotFound]))
      await this.#expect(client, ns, 0, `under the old name in round ${round}`)
      ns = to
    }
    await this.#expect(client, ns, documents.length, `before drop in round ${round}`)
    if (random.chance(1, 4)) {
      const { attempts } = await client.untilDone({ dropDatabase: 1, $db: 'short' })
      this.#mayLoseDatabase = attempts > 1
    } else {
      const missing = droppingMissingCollection === 'fails without code' ? undefined : codes.namespaceNotFound
      this.#note(await client.untilDone({ drop: ns, $db: 'short' }, [missing]))
    }
    await this.#expect(client, ns, 0, `after drop in round ${round}`)
    this.count('short life')
  }

  #note({ attempts }: AnsweredCommand): void {
    if (attempts > 1) this.#generation++
  }

  async #expect(client: SwarmClient, ns: string, count: number, when: string): Promise<void> {
    const found = await client.documentsOf({ find: ns, filter: {}, batchSize: 3, $db: 'short' })
    if (found === null) return
    const ids = new Set(found.map(({ _id }) => _id as number))
    if (ids.size !== found.length || ids.size !== count)
      this.world.verdicts.violated(
        'conservation',
        finding(`short.${ns} ${when} holds ${found.map(({ _id }) => _id).join()}`, `short.${ns}`),
      )
  }
}
