export { outcomeByNumber } from './calls/outcome';
export type { CallOutcome } from './calls/completions';
export { dialects, randomDialect, type Dialect } from './dialects';
export type { Fault, FaultKind } from './http/faults';
export type { RecordedRequest } from './http/requestLog';
export { startSimulator, type Simulator, type SimulatorOptions } from './simulator';
export { filled, fixtures } from './state/fixtures';
export type { Call } from './state/state';
