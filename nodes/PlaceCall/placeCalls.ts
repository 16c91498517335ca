import { DateTime } from 'luxon';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { ApiClient } from '../shared/api/client';
import { placeCall, type Additions } from '../shared/api/endpoints';
import { recordOf } from '../shared/api/envelope';
import { OutcomeUnknown } from '../shared/api/errors';
import type { CallRequest } from '../shared/api/types';
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json';
import { alreadyDone } from '../shared/n8n/alreadyDone';
import { connectOnce, type Connection } from '../shared/n8n/connect';
import { asItems, sendEachItem } from '../shared/n8n/itemLoop';
import { NodeParameters } from '../shared/n8n/nodeParameters';
import type { Sending } from '../shared/n8n/once';
import { readAdditions, readConcurrency } from '../shared/n8n/options';
import { buildCallRequest, type CallFields } from './request/callRequest';
import type { Schedule } from './request/schedule';
import { prepareWait } from './wait/prepareWait';

/** Calls each item's person once, and waits for the calls to be over where that is wanted. */
export async function placeCalls(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const connected = connectOnce(context);
	const wait = await prepareWait(context, connected);
	const parameters = new NodeParameters(context);
	const prepare = (index: number) => prepareCall(context, parameters, index, wait.address);
	const calls = await sendEachItem(context, prepare, {
		open: connected,
		concurrency: readConcurrency(parameters, 1),
		describeDone: alreadyDone({
			one: 'call was already placed',
			several: 'calls were already placed',
		}),
	});
	return await wait.finish(calls);
}

/**
 * Reads and checks the call of one item.
 *
 * @param reportTo where the service is to report it, when this node waits for that
 * @throws InvalidInput naming every field that must change
 */
function prepareCall(
	context: IExecuteFunctions,
	parameters: NodeParameters,
	index: number,
	reportTo: string | undefined,
): Sending<Connection> {
	const options = parameters.record('options', index);
	const fields = readCallParameters(context, parameters, index);
	const additions = readAdditions(options);
	const legacy = options.useLegacyEndpoint === true;
	const build = () => buildCallRequest({ ...fields, webhookUrl: reportTo ?? fields.webhookUrl });
	const call = buildCallRequest(atAnyTime(fields));
	return {
		// Neither the time of the try nor this execution's own address makes it another call.
		request: { ...additions, call },
		person: [call.country_code, call.phone_number],
		check: build,
		send: async ({ client }) => await placeOne(client, build(), { ...additions, legacy }),
	};
}

function atAnyTime({ schedule, ...fields }: CallFields): CallFields {
	if (schedule === undefined) return fields;
	return { ...fields, schedule: { ...schedule, now: DateTime.fromMillis(0) } };
}

/** What the person filled in for one item, unchecked. */
function readCallParameters(
	context: IExecuteFunctions,
	parameters: NodeParameters,
	index: number,
): CallFields {
	const settings = parameters.record('callConfigOverrides', index);
	const options = parameters.record('options', index);
	return {
		agentUuid: parameters.value('agentUuid', index),
		countryCode: parameters.value('countryCode', index),
		phoneNumber: parameters.value('phoneNumber', index),
		personName: parameters.value('personName', index),
		schedule: readSchedule(context, parameters, index),
		additionalData: parameters.value('additionalDataJson', index),
		additionalDataFields: rows(parameters.record('additionalDataFields', index).fields),
		dataExtraction: rows(parameters.record('dataExtraction', index).points),
		maxCallDurationSeconds: settings.maxCallDurationSeconds,
		enableCallback: settings.enableCallback,
		retryEnabled: settings.retryEnabled,
		retryMaxAttempts: settings.retryMaxAttempts,
		retryIntervalMinutes: settings.retryIntervalMinutes,
		initialGreeting: options.initialGreeting,
		systemPrompt: options.systemPrompt,
		webhookUrl: options.webhookUrl,
	};
}

function readSchedule(
	context: IExecuteFunctions,
	parameters: NodeParameters,
	index: number,
): Schedule | undefined {
	const when = parameters.value('when', index);
	if (when === 'now') return undefined;
	const [field, name] =
		when === 'timeOfDay' ? ['Time in India', 'scheduledTime'] : ['Date and Time', 'scheduledAt'];
	const raw: unknown = context.getNodeParameter(name, index, null, { rawExpressions: true });
	return {
		field,
		value: parameters.value(name, index),
		zone: context.getTimezone(),
		picked: name === 'scheduledAt' && typeof raw === 'string' && !raw.startsWith('='),
		now: DateTime.now(),
	};
}

/** The rows of a fixed collection; none where it was left empty. */
function rows(value: JsonValue | undefined): JsonObject[] | undefined {
	return Array.isArray(value) && value.length > 0 ? value.filter(isJsonObject) : undefined;
}

/** Places one call and returns what the service says of it. */
async function placeOne(
	client: ApiClient,
	request: CallRequest,
	how: Additions & { legacy: boolean },
): Promise<INodeExecutionData[]> {
	try {
		const answer = await placeCall(client, request, how);
		return asItems(recordOf(answer));
	} catch (error) {
		throw error instanceof OutcomeUnknown ? maybePlaced(request, error) : error;
	}
}

/** Names the call whose fate is open, and where to see whether it was placed. */
function maybePlaced(request: CallRequest, error: OutcomeUnknown): OutcomeUnknown {
	const { phone_number: phone, country_code: country } = request;
	return error.told({
		message: `${error.message} (call to ${phone}, ${country})`,
		resolution: `The call was not sent a second time. Look for ${phone} among the calls of your account, for example with Get Call › Get Many, before you place this call again.`,
	});
}
