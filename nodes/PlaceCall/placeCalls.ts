import { DateTime } from 'luxon';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { ApiClient } from '../shared/api/client';
import { placeCall, type Additions } from '../shared/api/endpoints';
import { recordOf } from '../shared/api/envelope';
import { InvalidInput, OutcomeUnknown } from '../shared/api/errors';
import { parseCount } from '../shared/api/identifiers';
import type { CallRequest } from '../shared/api/types';
import { withOffset } from '../shared/clock';
import { cancellableSleep } from '../shared/n8n/cancel';
import { notePlaced } from '../shared/calls/placedCalls';
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json';
import { clock, type Connection } from '../shared/n8n/connect';
import { asItems, sendEachItem } from '../shared/n8n/itemLoop';
import type { NodeParameters } from '../shared/n8n/nodeParameters';
import type { OperationRun } from '../shared/n8n/operations';
import type { Quota, Sending } from '../shared/n8n/once';
import { readAdditions, readConcurrency } from '../shared/n8n/options';
import { phoneKey } from '../shared/phone/phoneKey';
import { isUnset } from '../shared/values';
import { askedBy, withAnswer } from './ask/answer';
import type { Question } from './ask/question';
import { PlacedCalls, type SentCall } from './lookUp';
import { nextClosing, OutsideHours, withinHours } from './request/callingHours';
import {
	buildCall,
	buildCallRequest,
	type CallFields,
	type CheckedCall,
} from './request/callRequest';
import type { DataPoint } from './request/callRequestFields';
import type { Schedule } from './request/schedule';
import { inputFields } from './wait/inputFields';
import { prepareWait } from './wait/prepareWait';

/**
 * Calls each item's person once, and waits for the calls to be over where that is wanted.
 *
 * @param questionOf what the person is asked, where the call is made for an answer
 */
export async function placeCalls(
	{ context, parameters, connection: connected }: OperationRun,
	questionOf?: (index: number) => Question,
): Promise<INodeExecutionData[]> {
	const wait = await prepareWait(context, connected);
	const calls = new PlacedCalls(
		cancellableSleep(context),
		() => clock.now(),
		context.getTimezone(),
	);
	const prepare = (index: number) => {
		const question = questionOf?.(index);
		return prepareCall(context, parameters, index, calls, wait.address, question);
	};
	const placed = await sendEachItem(context, prepare, {
		open: connected,
		concurrency: readConcurrency(parameters, 1),
		deed: {
			one: 'call was already placed',
			several: 'calls were already placed',
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
	parameters: NodeParameters,
	index: number,
	calls: PlacedCalls,
	reportTo: string | undefined,
	question: Question | undefined,
): Sending<Connection> {
	const options = parameters.record('options', index);
	const fields = readCallParameters(context, parameters, index, question);
	const additions = readAdditions(options);
	const legacy = options.useLegacyEndpoint === true;
	const lookUp = options.ifUnknown === 'lookUp';
	if (options.callingHours !== undefined && additions.body?.scheduled_at !== undefined) {
		throw new InvalidInput(
			'Additional Body Fields hold scheduled_at, so that the call could ring outside Calling Hours',
			'Take it out, and set the time in When to Call.',
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
			...(options.callingHours !== undefined && { placed: true }),
			...(question && { asked: question.asked.question }),
		});
	return {
		// Neither the time of the try nor this execution's own address makes it another call.
		request: { ...additions, call },
		person: [call.country_code, call.phone_number],
		quota: readQuota(options.maximumCallsPerRun),
		check: build,
		lastCheck: () => void withinItsHours(build()),
		send: async (connection) => {
			const { request, ...timing } = withinItsHours(build());
			const sent = { request, key, leftAt: clock.now() };
			const place = async () =>
				await placeOne(connection.client, request, { ...additions, legacy, ...timing });
			return asPlaced(await placedOrFound(calls, sent, place, lookUp ? connection : undefined));
		},
		withDetails: (error) => withCallDetails(call, error),
		...(lookUp && {
			find: async (connection, error, since) => {
				const sent = { request: call, key, leftAt: since };
				const notAgain = async () => await Promise.reject(error);
				return asPlaced(await placedOrFound(calls, sent, notAgain, connection));
			},
		}),
		unsent: notPlacedNow,
		shown: (output) =>
			output.map(({ json }) => {
				const call = { ...inputFields(context, index), ...json, phone_key: json.phone_key ?? key };
				return { json: withAnswer(call, question && askedBy(json.asked, question.asked)) };
			}),
	};
}

/** The calls of all tools count. A limit that cannot be read is not taken for none. */
function readQuota(value: unknown): Quota {
	if (value === undefined) return { of: 'call', most: Infinity };
	const resolution = 'Enter how many calls one run of the agent may place, from 1 on.';
	return { of: 'call', most: parseCount(value, 'Maximum Calls per Agent Run', resolution) };
}

function atTime({ schedule, ...fields }: CallFields, millis: number): CallFields {
	return { ...fields, schedule: schedule && { ...schedule, now: DateTime.fromMillis(millis) } };
}

function dateTimeNow(): DateTime {
	return DateTime.fromMillis(clock.now());
}

/** What comes out for a call that is kept back because of the hour. */
function notPlacedNow(error: unknown): INodeExecutionData[] | undefined {
	if (!(error instanceof OutsideHours)) return undefined;
	const { opening } = error;
	return asItems({
		placed: false,
		call_id: null,
		not_placed_reason: 'outside_calling_hours',
		next_opening: opening === undefined ? null : withOffset(opening),
	});
}

/** What the person filled in for one item, unchecked. */
function readCallParameters(
	context: IExecuteFunctions,
	parameters: NodeParameters,
	index: number,
	question: Question | undefined,
): CallFields {
	const settings = parameters.record('callConfigOverrides', index);
	const options = parameters.record('options', index);
	return {
		agentUuid: parameters.value('agentUuid', index),
		countryCode: parameters.value('countryCode', index),
		phoneNumber: parameters.value('phoneNumber', index),
		personName: firstSet(parameters.value('personName', index), options.personName),
		// A question is asked now: its answer is waited for.
		schedule: question === undefined ? readSchedule(context, parameters, index) : undefined,
		callingHours: options.callingHours,
		outsideCallingHours: options.outsideCallingHours,
		additionalData: firstSet(
			parameters.value('additionalDataJson', index),
			options.additionalDataJson,
		),
		additionalDataFields: rows(parameters.record('additionalDataFields', index).fields),
		dataExtraction: dataPoints(parameters, index, question),
		maxCallDurationSeconds: settings.maxCallDurationSeconds,
		enableCallback: settings.enableCallback,
		retryEnabled: settings.retryEnabled,
		retryMaxAttempts: settings.retryMaxAttempts,
		retryIntervalMinutes: settings.retryIntervalMinutes,
		initialGreeting: firstSet(parameters.value('initialGreeting', index), options.initialGreeting),
		systemPrompt: options.systemPrompt,
		webhookUrl: options.webhookUrl,
	};
}

/** What is to be found out, the question last: a message about a point counts as the person does. */
function dataPoints(
	parameters: NodeParameters,
	index: number,
	question: Question | undefined,
): DataPoint[] | undefined {
	const points = rows(parameters.record('dataExtraction', index).points);
	return question === undefined ? points : [...(points ?? []), question.point];
}

/** A field, or what stands in another place: among the options, or where a saved workflow has it. */
function firstSet(...values: unknown[]): unknown {
	return values.find((value) => !isUnset(value));
}

/** By the choices of *When to Call*; a model says the time there itself. */
const WHERE_THE_TIME_IS = new Map<unknown, [field: string, parameter: string]>([
	['timeOfDay', ['Time in India', 'scheduledTime']],
	['dateTime', ['Date and Time', 'scheduledAt']],
]);

function readSchedule(
	context: IExecuteFunctions,
	parameters: NodeParameters,
	index: number,
): Schedule | undefined {
	const when = parameters.value('when', index);
	if (typeof when === 'string' && /^\s*now\s*$/i.test(when)) return undefined;
	const [field, name] = WHERE_THE_TIME_IS.get(when) ?? ['When to Call', 'when'];
	const raw: unknown = context.getNodeParameter(name, index, null, { rawExpressions: true });
	return {
		field,
		value: parameters.value(name, index),
		zone: context.getTimezone(),
		picked: name === 'scheduledAt' && typeof raw === 'string' && !raw.startsWith('='),
		now: dateTimeNow(),
	};
}

/** The rows of a fixed collection; none where it was left empty. */
export function rows(value: JsonValue | undefined): JsonObject[] | undefined {
	return Array.isArray(value) && value.length > 0 ? value.filter(isJsonObject) : undefined;
}

/** Places one call and returns what the service says of it. */
async function placeOne(
	client: ApiClient,
	request: CallRequest,
	how: Additions & { legacy: boolean; notAfter?: number },
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
	calls: PlacedCalls,
	sent: SentCall,
	place: () => Promise<JsonObject>,
	lookIn: Connection | undefined,
): Promise<JsonObject> {
	calls.leaves(sent);
	const record = await place().catch(async (error: unknown) => {
		const isUnknown = error instanceof OutcomeUnknown;
		if (!isUnknown) calls.settles(sent);
		if (!isUnknown || lookIn === undefined) throw error;
		return await calls.find(sent, lookIn, error);
	});
	if (record.looked_up !== true) calls.settles(sent, record);
	notePlaced(record.call_id);
	return record;
}

/**
 * The request as it is to be sent now; one for at once is not tried again when its hours are over.
 *
 * @throws OutsideHours where it is not to be placed
 */
function withinItsHours({ request, hours }: CheckedCall): {
	request: CallRequest;
	notAfter?: number;
} {
	if (hours === undefined) return { request };
	const now = dateTimeNow();
	const scheduled = withinHours(hours, request.scheduled_at, now);
	if (scheduled !== undefined) return { request: { ...request, scheduled_at: scheduled } };
	const closing = nextClosing(hours, now);
	return { request, ...(closing && { notAfter: closing.toMillis() }) };
}

/** Names the call whose outcome is unknown, and where to see whether it was placed. */
function withCallDetails(request: CallRequest, error: OutcomeUnknown): OutcomeUnknown {
	const { phone_number: phone, country_code: country } = request;
	return error.told({
		message: `${error.message} (call to ${phone}, ${country})`,
		resolution: `The call was not sent a second time. Look for ${phone} among the calls of your account, for example with Get Call › Get Many, before you place this call again.`,
	});
}
