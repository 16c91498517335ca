import compact from 'lodash/compact';
import get from 'lodash/get';
import omit from 'lodash/omit';
import { DateTime } from 'luxon';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { CallRequest } from '../core/service/contractTypes';
import { placeCall } from '../core/service/endpoints';
import { documentedRecord } from '../core/service/envelope';
import type { ApiResponse } from '../core/service/http';
import { InvalidInput, type Outcome, OutcomeUnknown } from '../core/service/errors';
import type { Explanation } from '../core/service/explanation';
import { callIdKey } from '../core/calls/completionWebhook';
import { clock } from '../host/clock';
import type { Fields } from '../host/forms/fields';
import type { JsonObject } from '../core/values/json';
import { requireRunning } from '../host/execution/cancel';
import { asItems, withInputIfFailed } from '../host/run/itemLoop';
import type { OperationRun } from '../host/run/operations';
import { addCustomData } from '../host/run/customData';
import { deliverEachItem } from '../host/run/deliverItems';
import type { PreparedRequest } from '../host/run/preparedRequest';
import { readAdditions, readConcurrency } from '../host/forms/options';
import { counted, plainText } from '../core/values/values';
import type { Question } from './ask';
import { type CallLimiter, claimInAgentRun, oncePerPerson, openCallLimiter } from './callLimiter';
import { callText, callTime, isDueLater, nightTime, scheduledTime } from './callTime';
import { DEFAULT_MAXIMUM_CALLS } from './fields/options';
import { type CheckedCall, readCallForm } from './fields/readCallForm';
import { readChecksOnly } from './fields/recipient';
import { onlyChecked } from './notPlaced';
import { readWaitLimit, waitForCalls } from './waitForCalls';
import { inputItem } from './inputFields';

/** What the calls of one node run share. */
type CallRun = OperationRun & {
	readQuestion: ((form: Fields) => Question) | undefined;
	/** *Opt-Out Key* of the credential. Undefined if that is invalid, so that no item is sent. */
	optOutKey: string | undefined;
	startedAt: DateTime;
	isOnlyChecked: boolean;
	limiter: CallLimiter;
	/** Of the calls placed so far. */
	callIds: Set<string>;
	/** Of the calls at night, placed or checked so far. */
	nightTimes: string[];
};

/**
 * Places one call per item, and waits until the calls are completed if 'Wait for Completion' is set.
 *
 * @param readQuestion reads the question of *Ask and Wait*
 */
export async function placeCalls(
	run: OperationRun,
	readQuestion?: (form: Fields) => Question,
): Promise<INodeExecutionData[]> {
	const { context, caller, parameters, account } = run;
	const waitLimitMs = readWaitLimit(parameters.at(0), readQuestion !== undefined);
	// An invalid credential is an error of each item, which says so when it's sent.
	const credential = await account().catch(() => undefined);
	const calls: CallRun = {
		...run,
		readQuestion,
		optOutKey: credential?.optOutKey,
		startedAt: dateTimeNow(),
		isOnlyChecked: readChecksOnly(parameters.at(0)),
		limiter: openCallLimiter(run),
		callIds: new Set(),
		nightTimes: [],
	};
	const prepare = (index: number) => prepareCall(calls, index);
	let freeInAgentRun = async () => {};
	const placed = await deliverEachItem(run, prepare, {
		concurrency: readConcurrency(parameters, 1),
		reserve: async (indexes) => {
			if (calls.isOnlyChecked || indexes.length === 0) return;
			await calls.limiter.claim(indexes);
			if (caller.kind === 'workflow') return;
			const max = readMaxCalls(parameters.at(0).collection('options'));
			freeInAgentRun = await claimInAgentRun(run, max);
		},
		release: async (indexes) => {
			await calls.limiter.free(indexes);
			if (indexes.length > 0) await freeInAgentRun();
		},
	}).finally(() => run.result.addHints(...hintAtNight(calls.nightTimes)));
	const completed = completeFailed(run, placed, readQuestion !== undefined);
	const questionOf = readQuestion && ((index: number) => readQuestion(parameters.at(index)).asked);
	const output =
		waitLimitMs === undefined
			? completed
			: await waitForCalls(run, completed, waitLimitMs, questionOf);
	addCustomData(context, output, 'call_id', 'outcome');
	return output;
}

/** Checks the call of an item. Nothing is sent yet. */
function prepareCall(run: CallRun, index: number): PreparedRequest {
	const { context, isOnlyChecked, limiter } = run;
	const form = run.parameters.at(index);
	const question = run.readQuestion?.(form);
	const row = run.caller.inputRows()[index]?.json ?? {};
	const call = readCallForm(form, row, context.getTimezone(), run.optOutKey, question?.point);
	const { request, phoneKey, looseKey } = call;
	const options = form.collection('options');
	const additions = readAdditions(options);
	if (additions.body.scheduled_at !== undefined) throw timeInBody();
	const legacy = options.switch('useLegacyEndpoint', false);
	// Read now, because an invalid option keeps the call from being placed.
	const input = inputItem(run, index, question !== undefined);
	const { planned, scheduledAt, obstacle } = callTime(call.time, run.startedAt);
	const zone = call.zone ?? context.getTimezone();
	if (obstacle === undefined) limiter.plan(index, looseKey, call.time.limit, planned);
	const noteNight = () => {
		if (call.time.hours !== undefined) return;
		run.nightTimes.push(...compact([nightTime(planned, call.zone, request.country_code)]));
	};
	return {
		// Without the time of the attempt, which doesn't make it another call.
		payload: { ...additions, request },
		once: oncePerPerson(run, options, looseKey),
		// A call that isn't placed keeps no other one from being placed. So it isn't placed later either.
		instead: obstacle,
		isOnlyChecked,
		send: async ({ account: { client } }) => {
			if (isOnlyChecked) {
				noteNight();
				throw onlyChecked(scheduledTime({}, scheduledAt, zone) ?? 'now');
			}
			const place = async (bodyNow: () => Promise<CallRequest>) =>
				await placeCall(client, bodyNow, { ...additions, legacy });
			const record = await sendCall(run, index, call, place);
			noteNight();
			// Also if another item then stops the node.
			addCustomData(context, asItems(record), 'call_id');
			return asItems({
				...record,
				placed: true,
				...(question && { asked: question.asked.question }),
			});
		},
		happened: (output) => {
			const whom = `${request.phone_number} (${request.country_code})`;
			return output.map(({ json }) => callText(whom, json, zone)).join(' ');
		},
		nextStep: (output) =>
			output.some(({ json }) => isDueLater(json, clock.now()))
				? 'Do not repeat this request. Read the call after that time by its ID.'
				: undefined,
		withDetails: (error) => withCallDetails(request, error),
		formatOutput: (output) =>
			output.map(({ json }) => {
				const asked = question && { asked: json.asked ?? question.asked.question };
				const own = { ...json, phone_key: json.phone_key ?? phoneKey, ...asked };
				// First, because a table cuts off the last columns.
				return { ...input, json: { ...own, ...input.json, ...own } };
			}),
	};
}

/** Sends the call of an item, and returns the response. The client may need several attempts. */
async function sendCall(
	run: CallRun,
	index: number,
	call: CheckedCall,
	place: (bodyNow: () => Promise<CallRequest>) => Promise<ApiResponse>,
): Promise<JsonObject> {
	const { context, startedAt, limiter, callIds } = run;
	const zone = call.zone ?? context.getTimezone();
	let scheduledFor: string | undefined;
	/** Decides when the call goes, once for each attempt, because earlier calls and pauses take time. */
	const bodyNow = async (): Promise<CallRequest> => {
		const { planned, scheduledAt, obstacle } = callTime(call.time, dateTimeNow(), startedAt);
		scheduledFor = scheduledAt;
		if (obstacle !== undefined) throw obstacle;
		limiter.plan(index, call.looseKey, call.time.limit, planned);
		if (!limiter.isClaimed(index, zone)) {
			// Another day, week, or month has begun.
			await limiter.claim([index]);
			requireRunning(run);
			// Claiming can take as long as the database does.
			return await bodyNow();
		}
		return {
			...call.request,
			...(scheduledAt !== undefined && { scheduled_at: scheduledAt }),
		};
	};
	const response = await place(bodyNow);
	const record = documentedRecord('call_id', response);
	const id = callIdKey(plainText(record.call_id));
	if (callIds.has(id)) throw idOfAnotherCall();
	callIds.add(id);
	const time = scheduledTime(record, scheduledFor, zone);
	// One column for the time, which also has the day.
	const output = omit(record, 'scheduled_at', 'scheduled_at_epoch');
	return { ...output, ...(time !== undefined && { scheduled_for: time }) };
}

/**
 * Adds the fields of the input to failed items, and `placed` if the call certainly wasn't. Those of a question have no answer.
 * Nothing is added for the error output, where n8n wouldn't recognize them.
 */
export function completeFailed(
	run: OperationRun,
	items: INodeExecutionData[],
	asks = false,
): INodeExecutionData[] {
	const inputOf = (index: number, { details }: IDataObject) => {
		const input = inputItem(run, index, asks);
		const placed = NOT_PLACED.has(get(details, 'outcome')) && { placed: false };
		const own = { ...placed, ...(asks && { answer: 'unclear' }) };
		return { ...input, json: { ...own, ...input.json, ...own } };
	};
	return items.map((item) => withInputIfFailed(run.context, item, inputOf));
}

/** The outcomes of a failed item whose call wasn't placed. */
const NOT_PLACED = new Set<unknown>(['not_sent', 'rejected'] satisfies Outcome[]);

/** Another time than the one that decides whether the call is placed. */
function timeInBody(): InvalidInput {
	return new InvalidInput(
		"'Additional Body Fields' can't have scheduled_at",
		"Remove it. To call later, use 'When to Call' of Place.",
	);
}

/** The calls of all tools count. An invalid limit is an error. */
function readMaxCalls(options: Fields): number {
	return options.wholeNumber('maximumCallsPerRun') ?? DEFAULT_MAXIMUM_CALLS;
}

/** The hint about calls at these times, if there are any. */
function hintAtNight([first, ...others]: string[]): Explanation[] {
	if (first === undefined) return [];
	const calls = counted(others.length + 1, 'call');
	return [
		{
			message: `Before 9:00 or after 21:00 where the person is: ${calls}, such as at ${first}`,
			resolution: "To call by day, set 'Calling Hours' to 'Within Hours'.",
		},
	];
}

/** In UTC, because the offset of another time zone takes longer to compute than the rest of the item. */
function dateTimeNow(): DateTime {
	return DateTime.fromMillis(clock.now(), { zone: 'utc' });
}

/** Such as from the cache of a proxy. */
function idOfAnotherCall(): OutcomeUnknown {
	return new OutcomeUnknown(
		'The response has the ID of another call of this execution, so the outcome is unknown',
		'',
	);
}

/** Adds the call, and how to check it, to an error about an unknown outcome. */
function withCallDetails(request: CallRequest, error: OutcomeUnknown): OutcomeUnknown {
	const { phone_number: phone, country_code: country } = request;
	return error.withText({
		message: `${error.message} (call to ${phone}, ${country})`,
		resolution: `The request wasn't sent again. Before anybody places this call again, look for ${phone} in the calls of the account, and again after a few minutes, because the list may lag.`,
	});
}
