import type { CommandRow } from '@shardlab/actor'
import type { CommonInvocation } from './common-invocation.js'
import { buildInfo } from './rows/build-info.js'
import { configureFailPoint } from './rows/configure-fail-point.js'
import { connectionStatus } from './rows/connection-status.js'
import { connPoolStats } from './rows/conn-pool-stats.js'
import { features } from './rows/features.js'
import { listCommands } from './rows/list-commands.js'
import { setParameter } from './rows/set-parameter.js'
import { createSearchIndexes } from './rows/create-search-indexes.js'
import { dropSearchIndex } from './rows/drop-search-index.js'
import { endSessions } from './rows/end-sessions.js'
import { getCmdLineOpts } from './rows/get-cmd-line-opts.js'
import { getLog } from './rows/get-log.js'
import { getNonce } from './rows/get-nonce.js'
import { getParameter } from './rows/get-parameter.js'
import { hostInfo } from './rows/host-info.js'
import { mapReduce } from './rows/map-reduce.js'
import { ping } from './rows/ping.js'
import { profile } from './rows/profile.js'
import { refreshSessions } from './rows/refresh-sessions.js'
import { startSession } from './rows/start-session.js'
import { testDeprecation } from './rows/test-deprecation.js'
import { testDeprecationInVersion2 } from './rows/test-deprecation-in-version2.js'
import { testRemoval } from './rows/test-removal.js'
import { testVersion2 } from './rows/test-version2.js'
import { testVersions1And2 } from './rows/test-versions1-and2.js'
import { waitForFailPoint } from './rows/wait-for-fail-point.js'
import { updateSearchIndex } from './rows/update-search-index.js'
import { whatsmyuri } from './rows/whatsmyuri.js'

/** Commands that every member answers alike, from what it knows of itself. */
export const commonRows: readonly CommandRow<CommonInvocation>[] = [
  buildInfo,
  configureFailPoint,
  connectionStatus,
  connPoolStats,
  features,
  listCommands,
  setParameter,
  createSearchIndexes,
  dropSearchIndex,
  endSessions,
  getCmdLineOpts,
  getLog,
  getNonce,
  getParameter,
  hostInfo,
  mapReduce,
  ping,
  profile,
  refreshSessions,
  startSession,
  testDeprecation,
  testDeprecationInVersion2,
  testRemoval,
  testVersion2,
  testVersions1And2,
  updateSearchIndex,
  waitForFailPoint,
  whatsmyuri,
]
