import { DateTime } from 'luxon';
import type { IExecuteFunctions } from 'n8n-workflow';
import type { NodeParameters } from '../shared/n8n/nodeParameters';
import type { CallFields } from './request/callRequest';
import type { Schedule } from './request/schedule';
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json';

/** What the person filled in for one item, unchecked. */
export function readCall(
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
