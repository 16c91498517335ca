import type { CallOutcome } from '../calls/completions';
import { busy, notPicked } from '../calls/outcomeByNumber';
import type { Fault } from '../http/faults';
import type { SimulatorState } from '../world';

/** How long a slow service takes for each response. */
const SLOW_MS = 5_000;

/** Requests that place calls, push contacts, change a do-not-disturb list, or send a message. */
const WRITES = { method: 'POST' };
const PLACE_CALL = { method: 'POST', path: '/v1/call' };

/** What the page can change about the next calls and responses of the service. */
const switches: { [name: string]: (world: SimulatorState) => void } = {
	notPicked: ({ completions }) => completions.chooseNext(notPicked()),
	busy: ({ completions }) => completions.chooseNext(busy()),
	cut: ({ faults }) => faults.inject({ kind: 'resetAfter', match: WRITES, times: 1 }),
	failedAfterPlacing: ({ faults }) =>
		faults.inject({
			kind: 'status',
			status: 500,
			afterHandling: true,
			match: PLACE_CALL,
			times: 1,
		}),
	slow: ({ settings }) => {
		settings.latencyMs = settings.latencyMs === SLOW_MS ? 0 : SLOW_MS;
	},
	normal: ({ faults, completions, settings }) => {
		faults.clear();
		completions.clearChosen();
		settings.latencyMs = 0;
	},
};

/** @throws Error if there is no such switch */
export function flip(world: SimulatorState, name: unknown): void {
	const isKnown = typeof name === 'string' && Object.hasOwn(switches, name);
	const flipOne = isKnown ? switches[name] : undefined;
	if (flipOne === undefined)
		throw new Error(`switch must be one of ${Object.keys(switches).join(', ')}`);
	flipOne(world);
}

/** Which switches apply to later calls and requests, in words. */
export function switchesOf({ faults, completions, settings }: SimulatorState) {
	const { latencyMs = 0 } = settings;
	return {
		isSlow: latencyMs > 0,
		pending: [
			...completions.chosenNext.map((outcome) => `Next call: ${resultOf(outcome)}`),
			...faults.pending.map((fault) => `Next ${targetOf(fault)}: ${faultText(fault)}`),
			...(latencyMs > 0 ? [`Each response takes ${latencyMs / 1_000} s`] : []),
		],
	};
}

function resultOf({ status, call_ended_reason_message: message }: CallOutcome): string {
	return String(message ?? status);
}

function targetOf({ match }: Fault): string {
	return match?.path === PLACE_CALL.path ? 'Place Call' : 'write';
}

/** What a fault does to a request. */
export function faultText({ kind, status }: Pick<Fault, 'kind' | 'status'>): string {
	switch (kind) {
		case 'resetAfter':
			return 'connection cut after it took effect';
		case 'status':
			return `status ${status ?? 500} although it took effect`;
		default:
			return kind;
	}
}
