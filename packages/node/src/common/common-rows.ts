import type { CommandRow } from '@shardlab/actor'
import type { CommonInvocation } from './common-invocation.js'
import { buildInfo } from './rows/build-info.js'
import { connectionStatus } from './rows/connection-status.js'
import { endSessions } from './rows/end-sessions.js'
import { getCmdLineOpts } from './rows/get-cmd-line-opts.js'
import { getLog } from './rows/get-log.js'
import { getParameter } from './rows/get-parameter.js'
import { hostInfo } from './rows/host-info.js'
import { ping } from './rows/ping.js'
import { refreshSessions } from './rows/refresh-sessions.js'
import { startSession } from './rows/start-session.js'
import { whatsmyuri } from './rows/whatsmyuri.js'

/** Commands that every member answers alike, from what it knows of itself. */
export const commonRows: readonly CommandRow<CommonInvocation>[] = [
  buildInfo,
  connectionStatus,
  endSessions,
  getCmdLineOpts,
  getLog,
  getParameter,
  hostInfo,
  ping,
  refreshSessions,
  startSession,
  whatsmyuri,
]
