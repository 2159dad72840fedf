import { openDashboard, type DashboardServer, type DashboardTarget, type Exposure } from '@shardlab/dashboard/server'
import { OptionError } from '../option-error.js'

/**
 * @param exposure null: this machine alone can open the page
 * @throws OptionError the port is in use
 */
export async function openPage(
  target: DashboardTarget,
  port: number,
  exposure: Exposure | null,
): Promise<DashboardServer> {
  try {
    return await openDashboard(target, { port, exposure })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new OptionError(
      code === 'EADDRINUSE'
        ? `port ${port} of the dashboard is in use: choose another one, or 0 for any free port.`
        : `the dashboard cannot listen on port ${port} (${message}): choose another one, or 0 for any free port.`,
    )
  }
}
