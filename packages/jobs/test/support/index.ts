export { JobWatch } from './job-watch.js'
