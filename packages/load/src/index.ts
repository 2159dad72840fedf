export {
  distributionNames,
  distributionOf,
  zetaOf,
  zipfian,
  type Distribution,
  type DistributionName,
} from './data/distributions.js'
export { EndCheck } from './check/end-check.js'
export { YamlFile, type SettingPath, type YamlFileOptions } from './input/yaml-file.js'
export { OptionError } from './option-error.js'
export { loadPage } from './page/load-page.js'
export { latenciesInCriticalSections, type CriticalSection } from './placement/critical-sections.js'
export { Placement, type PlacementData } from './placement/placement.js'
export { compareReports, parseReport } from './report/compare.js'
export { failedExpectations, parseExpectation } from './report/expect.js'
export { table } from './report/format.js'
export { textReport } from './report/text-report.js'
export { parseFault, type PlannedFault } from './run/faults.js'
export type { LaneResult } from './run/lane.js'
export { Journal, LaneJournal } from './run/journal.js'
export { dueBefore, startOffsetUs } from './run/pacing.js'
export { parseShardKey } from './run/resolve-options.js'
export { serveGenerator } from './run/serve-generator.js'
export { InterruptedError } from './run/stopping.js'
export { parseSweep, type Sweep } from './run/sweep.js'
export { runLoad } from './run-load.js'
export { watchEvents, type WatchedEvent, type WatchOptions } from './watch/watch-events.js'
export type * from './types.js'
export { builtInWorkload, builtInWorkloads } from './workload/built-in.js'
export { parseWorkload } from './workload/parse.js'
export { blockCycles, Schedule, type Plan } from './workload/schedule.js'
export { compileWorkload, type Operation, type Workload } from './workload/workload.js'
