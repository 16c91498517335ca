import { DateTime } from 'luxon';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { placeCall, type Additions, type CallRequest } from '../shared/api/endpoints';
import { recordOf } from '../shared/api/envelope';
import { InvalidInput, OutcomeUnknown } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/resolution';
import { parseCount } from '../shared/api/parseIds';
import { callIdKey } from '../shared/calls/completionWebhook';
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
import { CallLimiter } from './callLimiter';
import { callTime, requirePossibleTime } from './callTime';
import type { CheckedCall } from './fields/callDraft';
import { readCallForm } from './fields/readCallForm';
import { NotPlaced } from './notPlaced';
import { prepareWait } from './wait/prepareWait';
import { includesInput, inputFields } from './wait/waitedItems';

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
	const call = readCallForm(form, context.getTimezone(), question?.point);
	const { request, time, limit, phoneKey, numberKey } = call;
	const settings = form.collection('developerSettings');
	const additions = readAdditions(settings);
	requireOneTime(call, additions);
	const legacy = settings.switch('useLegacyEndpoint', false);
	const keepsInput = includesInput(form);
	const mayNotBePlaced = time.hours !== undefined || limit !== undefined;
	if (limit !== undefined) {
		const planned = () => callTime(time, dateTimeNow()).planned.toMillis();
		limiter.add(index, { number: numberKey, limit, planned });
	}
	return {
		// Without the time of the attempt and the URL of this execution, which don't make it another call.
		payload: { ...additions, request },
		target: numberKey,
		check: () => requirePossibleTime(time, dateTimeNow()),
		send: async ({ client }) => {
			const since = dateTimeNow();
			// Decided for each attempt, because the calls before this one and the pauses between attempts take time.
			const bodyNow = (): CallRequest => {
				const { planned, scheduledAt } = callTime(time, dateTimeNow(), since);
				limiter.requireSamePeriod(index, planned.toMillis());
				return {
					...request,
					...(scheduledAt !== undefined && { scheduled_at: scheduledAt }),
					...(webhookUrl !== undefined && { webhook_url: webhookUrl }),
				};
			};
			const place = async () =>
				await placeCall(client, bodyNow(), { ...additions, legacy, bodyNow });
			const record = recordOf(await limiter.place(index, place));
			requireNewId(record, callIds);
			return asItems({
				...record,
				...(mayNotBePlaced && { placed: true }),
				...(question && { asked: question.asked.question }),
			});
		},
		withDetails: (error) => withCallDetails(request, error),
		fallbackOutput: (error) => (error instanceof NotPlaced ? asItems(error.output) : undefined),
		formatOutput: (output) =>
			output.map(({ json }) => {
				const input = keepsInput ? inputFields(context, index) : {};
				const placed = { ...input, ...json, phone_key: json.phone_key ?? phoneKey };
				return { json: withAnswer(placed, question && askedBy(json.asked, question.asked)) };
			}),
	};
}

/** @throws InvalidInput if the body has another time of the call than the one that decides whether it's placed */
function requireOneTime({ time, limit }: CheckedCall, { body }: Additions): void {
	const isDecidedHere = time.hours !== undefined || limit !== undefined;
	if (body?.scheduled_at === undefined || !isDecidedHere) return;
	const reason =
		time.hours === undefined
			? "'Limit Calls per Person' can't know the time of the call"
			: "the call could be placed outside 'Calling Hours'";
	throw new InvalidInput(`'Additional Body Fields' has scheduled_at, so ${reason}`, {
		onScreen: "Remove scheduled_at, and set the time in 'When to Call'.",
		forModel: 'Remove scheduled_at.',
	});
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

/** @throws OutcomeUnknown if a response has the ID of another call, such as from the cache of a proxy */
function requireNewId({ call_id: callId }: JsonObject, callIds: Set<string>): void {
	if (typeof callId !== 'string') return;
	if (callIds.has(callIdKey(callId))) {
		throw new OutcomeUnknown(
			'The response has the ID of another call of this execution, so the outcome is unknown',
			onScreenOnly(''),
		);
	}
	callIds.add(callIdKey(callId));
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
