export * from './client/index.js'
export { failedExpectations, parseExpectation, type Expectation, type FailedExpectation } from './file/expectation.js'
export { parseScenario, type Scenario, type ScenarioFile } from './file/parse.js'
export { parseBytes, parseNumber, parseRate, parseTime, QuantityError } from './file/quantities.js'
export {
  operationNames,
  timelineActions,
  type KeysSource,
  type OperationName,
  type TimelineEntry,
} from './file/schema.js'
export { keysOf, type Keys, type KeyValue } from './keys/keys.js'
export { keyWeightsOf, type KeyWeight, type KeyWeights } from './keys/key-weights.js'
export { scatterBelow } from './keys/scatter.js'
export { ScenarioError } from './run/failure.js'
export { imbalanceOf } from './run/imbalance.js'
export { reportOf, runScenario } from './run/run-scenario.js'
export { runVariant } from './run/run-variant.js'
export { rateAt } from './run/load.js'
export type * from './types.js'
export { csvFiles } from './report/csv.js'
export { htmlReport } from './report/html-report.js'
export { decisionsText, textReport } from './report/text-report.js'
export type { BalancePolicy, PolicyChunk, PolicyMove, PolicyShard, PolicySituation } from '@shardlab/balancer'
export { findScenario, listScenarios, type ListedScenario } from './library.js'
export * from './swarm/index.js'
