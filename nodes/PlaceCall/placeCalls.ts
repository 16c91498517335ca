import { DateTime } from 'luxon';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { ApiClient } from '../shared/api/client';
import { placeCall, type Additions } from '../shared/api/endpoints';
import { recordOf } from '../shared/api/envelope';
import { InvalidInput, OutcomeUnknown } from '../shared/api/errors';
import { forEveryone, onScreenOnly } from '../shared/api/modelAdvice';
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
 * Calls each item's person once, and waits for the calls to be over where that is wanted.
 *
 * @param questionOf what the person is asked, where the call is made for an answer
 */
export async function placeCalls(
	{ context, parameters, connection: connected }: OperationRun,
	questionOf?: (form: Fields) => Question,
): Promise<INodeExecutionData[]> {
	const wait = await prepareWait(context, parameters.at(0), connected);
	const calls = new CallFinder(cancellableSleep(context), () => clock.now(), context.getTimezone());
	const prepare = (index: number) => {
		const form = parameters.at(index);
		return prepareCall(context, { form, index }, calls, wait.address, questionOf?.(form));
	};
	const placed = await sendEachItem(context, prepare, {
		createDeps: connected,
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
 * @param reportTo where the service is to report it, when this node waits for that
 * @param question one more data point, and how its answer is told
 * @throws InvalidInput naming every field that must change
 */
function prepareCall(
	context: IExecuteFunctions,
	{ form, index }: { form: Fields; index: number },
	calls: CallFinder,
	reportTo: string | undefined,
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
			'Additional Body Fields hold scheduled_at, so that the call could ring outside Calling Hours',
			forEveryone('Take it out, and set the time in When to Call.'),
		);
	}
	// Long after the items were read, as where many are called one after another, the time is another.
	const build = () =>
		buildCall({
			...atTime(fields, clock.now()),
			webhookUrl: reportTo ?? fields.webhookUrl,
		});
	const call = buildCallRequest(atTime(fields, 0));
	const key = phoneKey(fields.phoneNumber, call.country_code);
	const asPlaced = (record: JsonObject) =>
		asItems({
			...record,
			...(hasHours && { placed: true }),
			...(question && { asked: question.asked.question }),
		});
	return {
		// Neither the time of the try nor this execution's own address makes it another call.
		payload: { ...additions, call },
		person: [call.country_code, call.phone_number],
		quota: readQuota(options),
		check: build,
		lastCheck: () => void withinItsHours(build()),
		send: async (connection) => {
			const checked = build();
			const request = withinItsHours(checked);
			const sent = { request, key, sentAt: clock.now() };
			// A further attempt comes later, by when the hours may have ended.
			const bodyNow = () => withinItsHours({ ...checked, request });
			const place = async () =>
				await placeOne(connection.client, request, { ...additions, legacy, bodyNow });
			return asPlaced(await placedOrFound(calls, sent, place, lookUp ? connection : undefined));
		},
		withDetails: (error) => withCallDetails(call, error),
		...(lookUp && {
			find: async (connection, error, since) => {
				const sent = { request: call, key, sentAt: since };
				const notAgain = async () => await Promise.reject(error);
				return asPlaced(await placedOrFound(calls, sent, notAgain, connection));
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

/** The calls of all tools count. A limit that cannot be read is not taken for none. */
function readQuota(options: Fields): Quota {
	const value = options.number('maximumCallsPerRun', undefined);
	if (value === undefined) return { unit: 'call', max: Infinity };
	const resolution = onScreenOnly(
		'Enter how many calls one run of the agent may place, from 1 on.',
	);
	return { unit: 'call', max: parseCount(value, 'Maximum Calls per Agent Run', resolution) };
}

function atTime({ schedule, ...fields }: CallFields, millis: number): CallFields {
	return { ...fields, schedule: schedule && { ...schedule, now: DateTime.fromMillis(millis) } };
}

function dateTimeNow(): DateTime {
	return DateTime.fromMillis(clock.now());
}

/** What comes out for a call that is kept back because of the hour. */
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

/** What the person filled in for one item: each value of its type, and otherwise unchecked. */
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
		// A question is asked now: its answer is waited for.
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

/** *Ask and Wait* has the field among its options. */
function fieldOrOption(name: string, form: Fields, options: Fields): string | undefined {
	const holder = [form, options].find((fields) => fields.has(name));
	return holder?.textAsWritten(name, MAY_BE_BLANK);
}

/** Empty where the option is added and not filled in; `undefined` without the option. */
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

/** What is to be found out, the question last: a message about a point counts as the person does. */
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

/** Where the time stands, by the choice of *When to Call*; a model says the time there itself. */
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

/** Places one call and returns what the service says of it. */
async function placeOne(
	client: ApiClient,
	request: CallRequest,
	how: Additions & { legacy: boolean; bodyNow: () => CallRequest },
): Promise<JsonObject> {
	try {
		return recordOf(await placeCall(client, request, how));
	} catch (error) {
		throw error instanceof OutcomeUnknown ? withCallDetails(request, error) : error;
	}
}

/**
 * Keeps book of what is sent, so that a call whose fate is open can be told from others to the same number.
 *
 * @param lookIn where it is looked for; nowhere if the person wants to be told at once
 */
async function placedOrFound(
	calls: CallFinder,
	sent: SentCall,
	place: () => Promise<JsonObject>,
	lookIn: AccountClient | undefined,
): Promise<JsonObject> {
	calls.onSent(sent);
	const record = await place().catch(async (error: unknown) => {
		const isUnknown = error instanceof OutcomeUnknown;
		if (!isUnknown) calls.onSettled(sent);
		if (!isUnknown || lookIn === undefined) throw error;
		return await calls.find(sent, lookIn, error);
	});
	if (record.looked_up !== true) calls.onSettled(sent, record);
	notePlaced(record.call_id);
	return record;
}

/**
 * The request as it is to be sent now.
 *
 * @throws OutsideHours where it is not to be placed
 */
function withinItsHours({ request, hours }: CheckedCall): CallRequest {
	if (hours === undefined) return request;
	const scheduled = withinHours(hours, request.scheduled_at, dateTimeNow());
	return scheduled === undefined ? request : { ...request, scheduled_at: scheduled };
}

/** Names the call whose outcome is unknown, and where to see whether it was placed. */
function withCallDetails(request: CallRequest, error: OutcomeUnknown): OutcomeUnknown {
	const { phone_number: phone, country_code: country } = request;
	return error.withText({
		message: `${error.message} (call to ${phone}, ${country})`,
		resolution: {
			onScreen: `The call was not sent a second time. Look for ${phone} among the calls of your account, for example with Get Call › Get Many, before you place this call again.`,
			forModel: 'The call was not sent a second time.',
		},
	});
}
