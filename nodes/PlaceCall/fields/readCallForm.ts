import { parseAgentUuid } from '../../core/service/parseIds';
import type { CallRequest, DataExtractionItem } from '../../core/service/contractTypes';
import type { IDataObject } from 'n8n-workflow';
import { mayNameRow } from '../../host/caller/rows';
import type { Fields } from '../../host/forms/fields';
import { readPersonName } from '../../host/forms/placeholders';
import { countryCode } from '../../core/phone/countries';
import { loosePhoneKey, phoneKey, phoneNumber, requireCountry } from '../../core/phone/callPhone';
import { isUnset } from '../../core/values/values';
import { readCallLimit } from '../callLimiter';
import type { TimeSettings } from '../callTime';
import { readAdditionalData, readDataPoints, readGreeting } from './conversation';
import { completeUrl, readCallSettings } from './options';
import { onlyZoneOf, readCallingHours, readSchedule } from './when';

/** A checked call. Only its time depends on when it's sent. */
export type CheckedCall = {
	/** Has the time as entered, if any. */
	request: CallRequest;
	time: TimeSettings;
	/** The time zone of the person. Undefined if the country has several, and none is entered. */
	zone: string | undefined;
	/** The international form of the number, if it's clear. */
	phoneKey: string | null;
	/** Equal for all numbers that may be the same. */
	looseKey: string;
};

/**
 * Reads the call of one item, and checks every documented limit.
 *
 * @param row the input item
 * @param zone the time zone of the workflow
 * @param optOutKey of the credential. Undefined if that is invalid.
 * @param question the data point of *Ask and Wait*
 * @throws InvalidInput naming the first field to correct
 */
export function readCallForm(
	form: Fields,
	row: IDataObject,
	zone: string,
	optOutKey: string | undefined,
	question?: DataExtractionItem,
): CheckedCall {
	const optional: Partial<CallRequest> = {};
	/** Leaves an empty value out, so that it doesn't override the agent's. */
	const set = <Name extends keyof CallRequest>(
		name: Name,
		value: CallRequest[Name] | undefined,
	): void => {
		if (value !== undefined && !isUnset(value)) optional[name] = value;
	};
	const options = form.collection('options');

	const agent = parseAgentUuid(form.text('agentUuid'));
	const country = countryCode(form.text('countryCode'));
	const number = form.scalar('phoneNumber');
	const isOfRow = mayNameRow(form.expression('phoneNumber'));
	const phone = phoneNumber(number, country, 'Phone Number', isOfRow ? Object.keys(row) : []);
	// An expression for the country may read the column.
	if (isOfRow && form.expression('countryCode') === '') requireCountry(row, number, country);
	// An option of *Ask and Wait*.
	set('person_name', readPersonName(form.has('personName') ? form : options));
	const schedule = form.has('when') ? readSchedule(form, zone) : undefined;
	set('scheduled_at', schedule?.at);
	set('initial_greeting', readGreeting(options));
	const points = readDataPoints(options, optOutKey, question);
	set('data_extraction', points.length > 0 ? points : undefined);
	set('additional_data', readAdditionalData(options));
	set('call_config_overrides', readCallSettings(options));
	set('system_prompt', options.text('systemPrompt'));
	const hours = readCallingHours(form, country);
	const limit = readCallLimit(form);
	const webhookUrl = options.text('webhookUrl');
	set('webhook_url', webhookUrl === '' ? undefined : completeUrl(webhookUrl));

	return {
		request: { agent_uuid: agent, phone_number: phone, country_code: country, ...optional },
		time: { schedule, hours, limit },
		zone: hours?.zone ?? onlyZoneOf(country),
		phoneKey: phoneKey(number, country),
		looseKey: loosePhoneKey(number, country),
	};
}
