import { DateTime } from 'luxon';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { ApiClient } from '../shared/api/client';
import { placeCall, type Additions } from '../shared/api/endpoints';
import { recordOf } from '../shared/api/envelope';
import { InvalidInput, OutcomeUnknown } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/modelAdvice';
import { parseCount } from '../shared/api/parseIds';
import type { CallRequest } from '../shared/api/types';
import { withOffset } from '../shared/clock';
import { cancellableSleep } from '../shared/n8n/run/cancel';
import { notePlaced } from '../shared/calls/placedCalls';
import type { JsonObject } from '../shared/json';
import { clock, type AccountClient } from '../shared/n8n/http/accountClient';
import { type Fields, MAY_BE_BLANK } from '../shared/n8n/forms/fields';
import { asItems, sendEachItem } from '../shared/n8n/run/itemLoop';
import type { OperationRun } from '../shared/n8n/run/operations';
import type { Quota, PreparedRequest } from '../shared/n8n/idempotency/handler';
import { readAdditions, readConcurrency } from '../shared/n8n/forms/options';
import { phoneKey } from '../shared/phone/phoneKey';
import { askedBy, withAnswer } from './ask/answer';
import type { Question } from './ask/question';
import { CallFinder, type SentCall } from './findCall';
import { OutsideHours, withinHours, type WrittenHours } from './request/callingHours';
import {
	buildCall,
	buildCallRequest,
	type CallFields,
	type CheckedCall,
} from './request/callRequest';
import type { DataPoint, NamedValue } from './request/callRequestFields';
import type { Schedule } from './request/schedule';
import { includesInput, inputFields } from './wait/inputFields';
import { prepareWait } from './wait/prepareWait';

/**
 * Places one call per item, and waits until the calls are completed if 'Wait for Completion' is set.
 *
 * @param questionOf reads the question of *Ask and Wait*
 */
export async function placeCalls(
	{ context, parameters, connection }: OperationRun,
	questionOf?: (form: Fields) => Question,
): Promise<INodeExecutionData[]> {
	const wait = await prepareWait(context, parameters.at(0), connection);
	const calls = new CallFinder(cancellableSleep(context), () => clock.now(), context.getTimezone());
	const prepare = (index: number) => {
		const form = parameters.at(index);
		return prepareCall(context, { form, index }, calls, wait.webhookUrl, questionOf?.(form));
	};
	const placed = await sendEachItem(context, prepare, {
		createDeps: connection,
		concurrency: readConcurrency(parameters, 1),
		completedText: {
			singular: 'call was already placed',
			plural: 'calls were already placed',
		},
	});
	return await wait.finish(placed);
}

/**
 * Reads and checks the call of one item.
 *
 * @param ownWebhookUrl the URL of this execution, if the node waits for the completion webhook
 * @param question an additional data point, and the settings to evaluate its answer
 * @throws InvalidInput naming every field to correct
 */
function prepareCall(
	context: IExecuteFunctions,
	{ form, index }: { form: Fields; index: number },
	calls: CallFinder,
	ownWebhookUrl: string | undefined,
	question: Question | undefined,
): PreparedRequest<AccountClient> {
	const options = form.collection('options');
	const fields = readCallParameters(context, form, question);
	const additions = readAdditions(options);
	const legacy = options.switch('useLegacyEndpoint', false);
	const lookUp = options.choice('ifUnknown', 'fail') === 'lookUp';
	const keepsInput = includesInput(form);
	const hasHours = fields.callingHours !== undefined;
	if (hasHours && additions.body?.scheduled_at !== undefined) {
		throw new InvalidInput(
			"'Additional Body Fields' has scheduled_at, so the call could be placed outside 'Calling Hours'",
			{
				onScreen: "Remove scheduled_at, and set the time in 'When to Call'.",
				forModel: 'Remove scheduled_at.',
			},
		);
	}
	// Many calls one after another take time, so the call is built with the time at which it's sent.
	const buildNow = () =>
		buildCall({
			...atTime(fields, clock.now()),
			webhookUrl: ownWebhookUrl ?? fields.webhookUrl,
		});
	const call = buildCallRequest(atTime(fields, 0));
	const key = phoneKey(fields.phoneNumber, call.country_code);
	const placedItems = (record: JsonObject) =>
		asItems({
			...record,
			...(hasHours && { placed: true }),
			...(question && { asked: question.asked.question }),
		});
	return {
		// Without the time of the attempt and the URL of this execution, which don't make it another call.
		payload: { ...additions, call },
		person: [call.country_code, call.phone_number],
		quota: readQuota(options),
		check: buildNow,
		lastCheck: () => void scheduledRequest(buildNow()),
		send: async (connection) => {
			const checked = buildNow();
			const request = scheduledRequest(checked);
			const sent = { request, key, sentAt: clock.now() };
			// Another attempt is later, and the calling hours may have ended by then.
			const bodyNow = () => scheduledRequest({ ...checked, request });
			const place = async () =>
				await placeOne(connection.client, request, { ...additions, legacy, bodyNow });
			return placedItems(await placedOrFound(calls, sent, place, lookUp ? connection : undefined));
		},
		withDetails: (error) => withCallDetails(call, error),
		...(lookUp && {
			find: async (connection, error, since) => {
				const sent = { request: call, key, sentAt: since };
				const fail = async () => await Promise.reject(error);
				return placedItems(await placedOrFound(calls, sent, fail, connection));
			},
		}),
		fallbackOutput: outsideHoursOutput,
		formatOutput: (output) =>
			output.map(({ json }) => {
				const input = keepsInput ? inputFields(context, index) : {};
				const call = { ...input, ...json, phone_key: json.phone_key ?? key };
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

function atTime({ schedule, ...fields }: CallFields, millis: number): CallFields {
	return { ...fields, schedule: schedule && { ...schedule, now: DateTime.fromMillis(millis) } };
}

function dateTimeNow(): DateTime {
	return DateTime.fromMillis(clock.now());
}

/** The output for a call that wasn't placed because of its calling hours. */
function outsideHoursOutput(error: unknown): INodeExecutionData[] | undefined {
	if (!(error instanceof OutsideHours)) return undefined;
	const { opening } = error;
	return asItems({
		placed: false,
		call_id: null,
		not_placed_reason: 'outside_calling_hours',
		next_opening: opening === undefined ? null : withOffset(opening),
	});
}

/** Reads the fields of one item. Checks only their types. */
function readCallParameters(
	context: IExecuteFunctions,
	form: Fields,
	question: Question | undefined,
): CallFields {
	const settings = form.collection('callConfigOverrides');
	const options = form.collection('options');
	return {
		agentUuid: form.textOrNumber('agentUuid', MAY_BE_BLANK),
		countryCode: form.choiceOrText('countryCode', MAY_BE_BLANK),
		phoneNumber: form.textOrNumber('phoneNumber', MAY_BE_BLANK),
		personName: fieldOrOption('personName', form, options),
		// *Ask and Wait* places its calls now.
		schedule: question === undefined ? readSchedule(context, form) : undefined,
		callingHours: readCallingHours(options),
		outsideCallingHours: options.choice('outsideCallingHours', 'schedule'),
		additionalData: options.has('additionalDataJson')
			? options.json('additionalDataJson', MAY_BE_BLANK)
			: undefined,
		additionalDataFields: additionalDataRows(form),
		dataExtraction: dataPoints(form, question),
		maxCallDurationSeconds: settings.number('maxCallDurationSeconds', undefined),
		enableCallback: settings.switch('enableCallback', undefined),
		retryEnabled: settings.switch('retryEnabled', undefined),
		retryMaxAttempts: settings.number('retryMaxAttempts', undefined),
		retryIntervalMinutes: settings.number('retryIntervalMinutes', undefined),
		initialGreeting: fieldOrOption('initialGreeting', form, options),
		systemPrompt: options.textAsWritten('systemPrompt'),
		webhookUrl: options.has('webhookUrl') ? options.text('webhookUrl') : undefined,
	};
}

/** *Place* has this as a field, *Ask and Wait* as an option. */
function fieldOrOption(name: string, form: Fields, options: Fields): string | undefined {
	const source = [form, options].find((fields) => fields.has(name));
	return source?.textAsWritten(name, MAY_BE_BLANK);
}

/** Without `hours` if the option is added, but not filled in. `undefined` without the option. */
function readCallingHours(options: Fields): WrittenHours | undefined {
	if (!options.has('callingHours')) return undefined;
	const hours = options.group('callingHours');
	return {
		hours: hours && {
			days: hours.text('days', MAY_BE_BLANK),
			from: hours.text('from', MAY_BE_BLANK),
			to: hours.text('to', MAY_BE_BLANK),
			timeZone: hours.text('timeZone', MAY_BE_BLANK),
		},
	};
}

function additionalDataRows(form: Fields): NamedValue[] | undefined {
	const rows = form.rows('additionalDataFields').map((row) => ({
		name: row.text('name', MAY_BE_BLANK),
		value: row.scalar('value', MAY_BE_BLANK),
	}));
	return rows.length > 0 ? rows : undefined;
}

/** The data points, with the question last, so that messages have the positions of the form. */
function dataPoints(form: Fields, question: Question | undefined): DataPoint[] | undefined {
	const points = readDataPoints(form);
	if (question !== undefined) points.push(question.point);
	return points.length > 0 ? points : undefined;
}

export function readDataPoints(form: Fields): DataPoint[] {
	return form.rows('dataExtraction').map((row) => ({
		key: row.textAsWritten('key'),
		description: row.textAsWritten('description', MAY_BE_BLANK),
		required: row.switch('required', undefined),
		outputFormat: row.textAsWritten('outputFormat'),
	}));
}

/** The field that has the time, depending on 'When to Call'. A model enters the time there. */
function readTime(form: Fields): Pick<Schedule, 'field' | 'value' | 'picked'> | undefined {
	const when = form.choiceOrText('when', MAY_BE_BLANK);
	if (/^now$/i.test(when)) return undefined;
	if (when === 'timeOfDay') {
		const value = form.text('scheduledTime', MAY_BE_BLANK);
		return { field: 'Time in India', value, picked: false };
	}
	if (when === 'dateTime') {
		const value = form.time('scheduledAt', MAY_BE_BLANK);
		return { field: 'Date and Time', value, picked: form.expression('scheduledAt') === '' };
	}
	return { field: 'When to Call', value: when, picked: false };
}

function readSchedule(context: IExecuteFunctions, form: Fields): Schedule | undefined {
	const time = readTime(form);
	return time && { ...time, zone: context.getTimezone(), now: dateTimeNow() };
}

/** Places one call and returns the response data. */
async function placeOne(
	client: ApiClient,
	request: CallRequest,
	options: Additions & { legacy: boolean; bodyNow: () => CallRequest },
): Promise<JsonObject> {
	try {
		return recordOf(await placeCall(client, request, options));
	} catch (error) {
		throw error instanceof OutcomeUnknown ? withCallDetails(request, error) : error;
	}
}

/**
 * Places a call, and searches for it if its outcome is unknown. Tracks all calls, to tell calls to the same number apart.
 *
 * @param searchIn undefined if 'If the Outcome Is Unknown' is 'Stop'
 */
async function placedOrFound(
	calls: CallFinder,
	sent: SentCall,
	place: () => Promise<JsonObject>,
	searchIn: AccountClient | undefined,
): Promise<JsonObject> {
	calls.onSent(sent);
	const record = await place().catch(async (error: unknown) => {
		const isUnknown = error instanceof OutcomeUnknown;
		if (!isUnknown) calls.onSettled(sent);
		if (!isUnknown || searchIn === undefined) throw error;
		return await calls.find(sent, searchIn, error);
	});
	if (record.looked_up !== true) calls.onSettled(sent, record);
	notePlaced(record.call_id);
	return record;
}

/**
 * The request with the time that its calling hours allow.
 *
 * @throws OutsideHours if it must not be placed
 */
function scheduledRequest({ request, hours }: CheckedCall): CallRequest {
	if (hours === undefined) return request;
	const scheduled = withinHours(hours, request.scheduled_at, dateTimeNow());
	return scheduled === undefined ? request : { ...request, scheduled_at: scheduled };
}

/** Adds the call, and how to check it, to an error about an unknown outcome. */
function withCallDetails(request: CallRequest, error: OutcomeUnknown): OutcomeUnknown {
	const { phone_number: phone, country_code: country } = request;
	return error.withText({
		message: `${error.message} (call to ${phone}, ${country})`,
		resolution: {
			onScreen: `The request wasn't sent again. Before you place this call again, look for ${phone} in the calls of your account, for example with Get Call > Get Many.`,
			forModel: 'The request was not sent again.',
		},
	});
}
