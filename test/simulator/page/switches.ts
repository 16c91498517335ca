import { BUSY, NOT_PICKED } from '../calls/outcome';
import type { Fault } from '../http/faults';
import type { Simulator } from '../simulator';

/** How long a slow service takes for each response. */
const SLOW_MS = 5_000;

/** Requests that place calls, push contacts, change a do-not-disturb list, or send a message. */
const WRITES = { method: 'POST' };
const PLACE_CALL = { method: 'POST', path: '/v1/call' };
const FAILED = { kind: 'status', status: 500, afterHandling: true } as const;

/** What the page can change about the next calls and responses of the service. */
const switches: { [name: string]: (sim: Simulator) => void } = {
	notPicked: ({ completions }) => completions.chosenNext.push(NOT_PICKED),
	busy: ({ completions }) => completions.chosenNext.push(BUSY),
	cut: ({ faults }) => faults.inject({ kind: 'resetAfter', match: WRITES, times: 1 }),
	failedAfterPlacing: ({ faults }) => faults.inject({ ...FAILED, match: PLACE_CALL, times: 1 }),
	slow: ({ settings }) => {
		settings.latencyMs = settings.latencyMs === SLOW_MS ? 0 : SLOW_MS;
	},
	normal: ({ faults, completions, settings }) => {
		faults.clear();
		completions.chosenNext.length = 0;
		settings.latencyMs = 0;
	},
};

/** @throws Error if there is no such switch */
export function flip(sim: Simulator, name: unknown): void {
	const isKnown = typeof name === 'string' && Object.hasOwn(switches, name);
	const flipOne = isKnown ? switches[name] : undefined;
	if (flipOne === undefined)
		throw new Error(`switch must be one of ${Object.keys(switches).join(', ')}`);
	flipOne(sim);
}

/** Which switches apply to later calls and requests, in words. */
export function switchesOf({ faults, completions, settings }: Simulator) {
	const { latencyMs = 0 } = settings;
	const targetOf = ({ match }: Fault) => (match?.path === PLACE_CALL.path ? 'Place Call' : 'write');
	return {
		isSlow: latencyMs > 0,
		pending: [
			...completions.chosenNext.map(
				(outcome) => `Next call: ${String(outcome.call_ended_reason_message)}`,
			),
			...faults.pending.map((fault) => `Next ${targetOf(fault)}: ${faultText(fault)}`),
			...(latencyMs > 0 ? [`Each response takes ${latencyMs / 1_000} s`] : []),
		],
	};
}

/** What a fault does to a request. */
export function faultText({ kind, status }: Pick<Fault, 'kind' | 'status'>): string {
	if (kind === 'resetAfter') return 'connection cut after it took effect';
	return kind === 'status' ? `status ${status ?? 500} although it took effect` : kind;
}
