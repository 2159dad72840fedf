/** Primaries step down and routers restart while the clients of a bank work. */
import type { Random } from '@shardlab/actor'
import { OptionError, type SimulatedCluster } from '@shardlab/cluster'
import { ReplicaSets } from '@shardlab/scenario'
import type { CrashDriver } from '../crash-driver.js'

interface FailingBank {
  readonly cluster: SimulatedCluster
  readonly random: Random
  readonly crashDriver: Pick<CrashDriver, 'clientsAtWork'>
  failures: number
}

const betweenStepDownsMs = 2500
const betweenRestartsMs = 4000

export async function takePrimariesAway(bank: FailingBank): Promise<void> {
  const { cluster } = bank
  const sets = new ReplicaSets(cluster)
  await Promise.all([
    repeated(bank, 'step downs', betweenStepDownsMs, async (random) => {
      const primary = await sets.primaryOf(sets.names[random.below(sets.names.length)]!)
      return primary === null ? null : `step down ${primary} for 2s`
    }),
    repeated(
      bank,
      'routers',
      betweenRestartsMs,
      async (random) => `restart ${cluster.mongos[random.below(cluster.mongos.length)]!}`,
    ),
  ])
}

async function repeated(
  bank: FailingBank,
  name: string,
  meanMs: number,
  faultOf: (random: Random) => Promise<string | null>,
): Promise<void> {
  const random = bank.random.fork(name)
  for (;;) {
    await bank.cluster.advance(random.fraction() * 2 * meanMs)
    if (!bank.crashDriver.clientsAtWork) return
    const fault = await faultOf(random)
    if (fault === null) continue
    try {
      await bank.cluster.faults.apply(fault)
      bank.failures++
    } catch (error) {
      // The member is starting.
      if (!(error instanceof OptionError)) throw error
    }
  }
}
