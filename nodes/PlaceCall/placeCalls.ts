import { DateTime } from 'luxon';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { ApiClient } from '../shared/api/client';
import { placeCall, type Additions } from '../shared/api/endpoints';
import { recordOf } from '../shared/api/envelope';
import { InvalidInput, OutcomeUnknown } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/resolution';
import { parseCount } from '../shared/api/parseIds';
import type { CallRequest } from '../shared/api/types';
import { withOffset } from '../shared/clock';
import { callKey } from '../shared/calls/report';
import type { JsonObject } from '../shared/json';
import { clock, type AccountClient } from '../shared/n8n/http/accountClient';
import type { Fields } from '../shared/n8n/forms/fields';
import { asItems } from '../shared/n8n/run/itemLoop';
import type { OperationRun } from '../shared/n8n/run/operations';
import { sendEachItem } from '../shared/n8n/run/sendLoop';
import type { Quota, PreparedRequest } from '../shared/n8n/once/preparedRequest';
import { readAdditions, readConcurrency } from '../shared/n8n/forms/options';
import { askedBy, withAnswer } from './ask/answer';
import type { Question } from './ask/question';
import { readCall } from './fields/readCall';
import { CallLimiter, TooManyCalls } from './limit/callLimiter';
import { NOT_PLACED_REASONS } from './request/notPlaced';
import { atItsTime, openingFor, OutsideHours, plannedFor, withDate } from './request/openingHours';
import { requireFuture } from './request/scheduledAt';
import { includesInput, inputFields } from './wait/inputFields';
import { prepareWait } from './wait/prepareWait';

/**
 * Places one call per item, and waits until the calls are completed if 'Wait for Completion' is set.
 *
 * @param readQuestion reads the question of *Ask and Wait*
 */
export async function placeCalls(
	run: OperationRun,
	readQuestion?: (form: Fields) => Question,
): Promise<INodeExecutionData[]> {
	const { context, parameters, account } = run;
	const wait = await prepareWait(context, parameters.at(0), account);
	const limiter = new CallLimiter(context);
	const callIds = new Set<string>();
	const prepare = (index: number) => {
		const form = parameters.at(index);
		const question = readQuestion?.(form);
		const webhookUrl = wait.webhookUrl;
		return prepareCall(context, { form, index }, { callIds, limiter, webhookUrl, question });
	};
	const placed = await sendEachItem(context, prepare, {
		createDeps: account,
		quota: (index) => readQuota(parameters.at(index).collection('options')),
		beforeFirst: async (indexes) => await limiter.reserve(indexes),
		concurrency: readConcurrency(parameters, 1),
		completedText: {
			singular: 'call was already placed',
			plural: 'calls were already placed',
		},
	}).finally(async () => await limiter.release());
	return await wait.finish(placed);
}

/** What the calls of one node run share, and what is added to one of them. */
type CallSetup = {
	/** Of the calls that were placed. */
	callIds: Set<string>;
	limiter: CallLimiter;
	/** The URL of this execution, if the node waits for the completion webhook. */
	webhookUrl: string | undefined;
	/** An additional data point, and the settings to evaluate its answer. */
	question: Question | undefined;
};

/**
 * Reads and checks the call of one item.
 *
 * @throws InvalidInput naming every field to correct
 */
function prepareCall(
	context: IExecuteFunctions,
	{ form, index }: { form: Fields; index: number },
	{ callIds, limiter, webhookUrl, question }: CallSetup,
): PreparedRequest<AccountClient> {
	const settings = form.collection('developerSettings');
	const { request, schedule, hours, limit, phoneKey, numberKey } = readCall(
		form,
		context.getTimezone(),
		question?.point,
	);
	const additions = readAdditions(settings);
	const legacy = settings.switch('useLegacyEndpoint', false);
	const keepsInput = includesInput(form);
	const hasHours = hours !== undefined;
	// Before any call, so that wrong dates stop all of them.
	if (hasHours) openingFor(hours, request.scheduled_at, dateTimeNow());
	if (additions.body?.scheduled_at !== undefined) {
		const resolution = {
			onScreen: "Remove scheduled_at, and set the time in 'When to Call'.",
			forModel: 'Remove scheduled_at.',
		};
		const has = "'Additional Body Fields' has scheduled_at, so";
		if (hasHours) {
			throw new InvalidInput(`${has} the call could be placed outside 'Calling Hours'`, resolution);
		}
		if (limit !== undefined) {
			throw new InvalidInput(
				`${has} 'Limit Calls per Person' can't know the time of the call`,
				resolution,
			);
		}
	}
	// Many calls one after another take time, so both depend on the time at which the request is sent.
	const requireStillFuture = () => requireFuture(request.scheduled_at, schedule, dateTimeNow());
	const withWebhook = webhookUrl ? { ...request, webhook_url: webhookUrl } : request;
	const requestSince = (since: DateTime) => {
		const now = dateTimeNow();
		const dated = hasHours || limit !== undefined ? since : undefined;
		const timed = atItsTime(withWebhook, hours, now, dated);
		// It may have passed since the first attempt. The document doesn't say what the service does then.
		requireFuture(withDate(timed.scheduled_at, since), schedule, now);
		return timed;
	};
	const placedItems = (record: JsonObject) =>
		asItems({
			...record,
			...((hasHours || limit !== undefined) && { placed: true }),
			...(question && { asked: question.asked.question }),
		});
	const plannedSince = (since: DateTime) =>
		plannedFor(requestSince(since).scheduled_at, dateTimeNow()).toMillis();
	if (limit !== undefined) {
		const planned = () => plannedSince(dateTimeNow());
		limiter.add(index, { number: numberKey, limit, planned });
	}
	return {
		// Without the time of the attempt and the URL of this execution, which don't make it another call.
		payload: { ...additions, request },
		target: numberKey,
		check: requireStillFuture,
		send: async (account) => {
			requireStillFuture();
			const since = dateTimeNow();
			const place = async () => {
				const bodyNow = () => {
					limiter.requireSamePeriod(index, plannedSince(since));
					return requestSince(since);
				};
				const sending = { ...additions, legacy, bodyNow };
				return await placeOne(account.client, requestSince(since), sending, callIds);
			};
			return placedItems(await limiter.place(index, place));
		},
		withDetails: (error) => withCallDetails(request, error),
		fallbackOutput: notPlacedOutput,
		formatOutput: (output) =>
			output.map(({ json }) => {
				const input = keepsInput ? inputFields(context, index) : {};
				const call = { ...input, ...json, phone_key: json.phone_key ?? phoneKey };
				return { json: withAnswer(call, question && askedBy(json.asked, question.asked)) };
			}),
	};
}

/** The calls of all tools count. An invalid limit is an error. */
function readQuota(options: Fields): Quota {
	const value = options.number('maximumCallsPerRun', undefined);
	if (value === undefined) return { unit: 'call', max: Infinity };
	const resolution = onScreenOnly('Enter how many calls one agent run may place, at least 1.');
	return { unit: 'call', max: parseCount(value, 'Maximum Calls per Agent Run', resolution) };
}

function dateTimeNow(): DateTime {
	return DateTime.fromMillis(clock.now());
}

/** The output for a call that wasn't placed because of its calling hours, or of the limit of calls. */
function notPlacedOutput(error: unknown): INodeExecutionData[] | undefined {
	if (error instanceof TooManyCalls) return error.output();
	if (!(error instanceof OutsideHours)) return undefined;
	const { opening } = error;
	return asItems({
		placed: false,
		call_id: null,
		not_placed_reason: NOT_PLACED_REASONS.callingHours,
		next_opening: withOffset(opening),
	});
}

/** Places one call and returns the response data. A cache in a proxy may return that of another call. */
async function placeOne(
	client: ApiClient,
	request: CallRequest,
	options: Additions & { legacy: boolean; bodyNow: () => CallRequest },
	callIds: Set<string>,
): Promise<JsonObject> {
	try {
		const record = recordOf(await placeCall(client, request, options));
		const { call_id: callId } = record;
		if (typeof callId === 'string') {
			if (callIds.has(callKey(callId))) throw sameId();
			callIds.add(callKey(callId));
		}
		return record;
	} catch (error) {
		throw error instanceof OutcomeUnknown ? withCallDetails(request, error) : error;
	}
}

function sameId(): OutcomeUnknown {
	return new OutcomeUnknown(
		'The response has the ID of another call of this execution, so the outcome is unknown',
		onScreenOnly(''),
	);
}

/** Adds the call, and how to check it, to an error about an unknown outcome. */
function withCallDetails(request: CallRequest, error: OutcomeUnknown): OutcomeUnknown {
	const { phone_number: phone, country_code: country } = request;
	return error.withText({
		message: `${error.message} (call to ${phone}, ${country})`,
		resolution: {
			onScreen: `The request wasn't sent again. Before you place this call again, look for ${phone} in the calls of your account, for example with Get Call > Get Many. The list may lag, so look again after a few minutes.`,
			forModel: 'The request was not sent again.',
		},
	});
}
