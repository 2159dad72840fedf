import type { BalancerExplanation } from '@shardlab/cluster'
import { runAdminCommand } from '../admin-client.js'
import { ConnectError } from '../connect-error.js'
import { exitCodes } from '../exit-codes.js'
import type { ExplainBalanceOptions } from './explain-balance-options.js'
import { explanationText } from './explain-balance-text.js'

const namespaceNotSharded = 118

/** @returns the exit code. @throws ConnectError */
export async function explainBalance({ uri, ns, json }: ExplainBalanceOptions): Promise<number> {
  const reply = await runAdminCommand(uri, { shardlab: 'explainBalance', ns })
  if (reply['code'] === namespaceNotSharded) throw new ConnectError(`the cluster has no sharded collection ${ns}.`)
  if (reply['ok'] !== 1) throw new ConnectError(`the cluster cannot explain ${ns}: ${String(reply['errmsg'])}.`)
  const explanation = reply['explanation'] as BalancerExplanation
  process.stdout.write(json === true ? `${JSON.stringify(explanation)}\n` : explanationText(explanation))
  return explanation.balanced ? exitCodes.fine : exitCodes.failed
}
