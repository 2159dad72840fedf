export { openDashboard, type DashboardListening, type DashboardServer, type Exposure } from './dashboard-server.js'
export {
  pageVerbs,
  type DashboardAccess,
  type DashboardTarget,
  type PageFields,
  type PageLogin,
  type PageVerb,
} from './target.js'
