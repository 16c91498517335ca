import omitBy from 'lodash/omitBy';
import type { INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { hasEnded, type CallState } from '../core/calls/callEnd';
import { callColumns } from '../core/calls/callRecord';
import { readCallRecord } from '../core/calls/readCall';
import { errorText, InvalidInput, NOT_READ_FIELD } from '../core/service/errors';
import { readEach } from '../core/service/limits';
import { backoffMs, type Backoff, type Clock } from '../core/values/clock';
import { isJsonObject, type JsonObject } from '../core/values/json';
import { isUnset, named, plainText } from '../core/values/values';
import { clock } from '../host/clock';
import { cancellableSleep, isCanceled, WHY_CANCELED } from '../host/execution/cancel';
import type { Fields } from '../host/forms/fields';
import type { AccountClient } from '../host/http/accountClient';
import type { OperationRun } from '../host/run/operations';
import { type AskedQuestion, withAnswer } from './ask';
import { isDueLater } from './callTime';

/** A longer wait would be lost too often by a restart of n8n. */
const MAX_MINUTES = 60;
const READ_BACKOFF: Backoff = { firstMs: 5_000, maxMs: 60_000, factor: 1.5 };
const STOPPED = `${WHY_CANCELED} The call may still be in progress. Read it with Get Call.`;

export const waitMinutes: INodeProperties = {
	displayName: 'Wait for Completion (Minutes)',
	name: 'waitMinutes',
	type: 'number',
	noDataExpression: true,
	typeOptions: { minValue: 1, maxValue: MAX_MINUTES },
	default: MAX_MINUTES,
	description: `Continue when the calls have ended, with their results and captured answers, after ${MAX_MINUTES} minutes at most. Calls for later aren't waited for.`,
};

/**
 * How long a node run waits for its calls, in milliseconds. Undefined if the node doesn't wait.
 *
 * @param isAlways whether it waits without the option, for the answer to a question
 * @throws InvalidInput if the time limit isn't more than 0 and at most 60 minutes
 */
export function readWaitLimit(form: Fields, isAlways: boolean): number | undefined {
	const options = form.collection('options');
	if (!isAlways && !options.has(waitMinutes.name)) return undefined;
	const minutes = options.number(waitMinutes.name, MAX_MINUTES);
	if (minutes > 0 && minutes <= MAX_MINUTES) return minutes * 60_000;
	throw new InvalidInput(
		`'${waitMinutes.displayName}' must be more than 0 and at most ${MAX_MINUTES} (got ${minutes})`,
		'For results that take longer, start another workflow with Call Completed Trigger.',
	);
}

/**
 * Keeps the execution running until each call has ended, or the time limit is reached.
 *
 * @param questionOf that of an item of *Ask and Wait*, which gets its answer
 * @returns the calls with their records. Items without a call, or with one for later, stay as they are.
 */
export async function waitForCalls(
	run: OperationRun,
	placed: INodeExecutionData[],
	limitMs: number,
	questionOf: ((index: number) => AskedQuestion) | undefined,
): Promise<INodeExecutionData[]> {
	const { context, caller, account } = run;
	const calls = new Map(placed.flatMap(awaitedCall));
	const callIds = [...calls.keys()];
	// Without a call, each item has the error of an invalid credential.
	const credential = callIds.length > 0 ? await account() : undefined;
	if (credential !== undefined) {
		const sleep = cancellableSleep(run, placedNote(callIds));
		const end = clock.elapsed() + Math.min(limitMs, caller.maxWaitMs);
		await readUntilAllEnded(calls, credential, { ...clock, sleep }, end).catch((error: unknown) => {
			if (!isCanceled(context) || !caller.continuesOnFail) throw error;
			// In queue mode, a retry continues after the node with the items, so they end as at the time limit, with another reason.
			for (const [, call] of pendingIn(calls)) call.readFailure = STOPPED;
		});
	}
	return placed.map((item, index) => {
		const json = isJsonObject(item.json) ? item.json : {};
		const state = calls.get(plainText(json.call_id));
		const call = state ? withRecord(json, state, credential?.optOutKey ?? '') : json;
		const question = json.asked === undefined ? undefined : questionOf?.(index);
		const answered = question ? withAnswer(call, question, state) : call;
		return { ...item, json: answered, pairedItem: { item: index } };
	});
}

/** The call that an item waits for, unless there is none, or it's scheduled for later. */
function awaitedCall({ json }: INodeExecutionData): Array<[string, CallState]> {
	const callId = plainText(json.call_id);
	if (callId === '' || isDueLater(json, clock.now())) return [];
	return [[callId, { record: {}, hasEnded: false }]];
}

function pendingIn(calls: ReadonlyMap<string, CallState>): Array<[string, CallState]> {
	return [...calls].filter(([, call]) => !call.hasEnded);
}

/**
 * Reads the calls in rounds, several at a time and at growing intervals, until all have ended or the time limit is reached.
 *
 * @param until in milliseconds of the clock's `elapsed()`
 */
async function readUntilAllEnded(
	calls: Map<string, CallState>,
	{ client, finished }: AccountClient,
	time: Clock,
	until: number,
): Promise<void> {
	for (let round = 1; ; round++) {
		const pending = pendingIn(calls);
		const remaining = until - time.elapsed();
		if (pending.length === 0 || remaining <= 0) return;
		await time.sleep(Math.min(backoffMs(READ_BACKOFF, round), remaining));
		await readEach(pending, async ([callId, call]) => {
			try {
				const record = await readCallRecord(client, callId);
				calls.set(callId, { record, hasEnded: hasEnded(record, finished) });
			} catch (error) {
				// The call was placed, so a failed read must not stop the node.
				call.readFailure = errorText(error);
			}
		});
	}
}

/** What to do if the execution is stopped during the wait. The calls aren't. */
function placedNote(callIds: readonly string[]): string {
	const isOne = callIds.length === 1;
	const were = isOne ? 'The call was' : `${callIds.length} calls were`;
	return `${were} placed. Read ${isOne ? 'it' : 'them'} with Get Call: ${named(callIds, String)}.`;
}

/** The columns of the call replace those of its row, except a name that the call lacks. */
function withRecord(
	placed: JsonObject,
	{ record, hasEnded: isComplete, readFailure }: CallState,
	optOutKey: string,
): JsonObject {
	const { call_id = null, phone_key = null, asked } = placed;
	const columns = callColumns({ call_id, phone_key, ...record }, optOutKey);
	const { person_name, phone_number, ...ofCall } = columns;
	return {
		...columns,
		// Of a call in progress, the status isn't an outcome.
		timed_out: !isComplete,
		...placed,
		...ofCall,
		// The workflow goes on with the people of the rows, not with the person who was asked.
		...(asked === undefined && omitBy({ person_name, phone_number }, isUnset)),
		...(readFailure !== undefined && { [NOT_READ_FIELD]: readFailure }),
	};
}
