import { checkAgentUuid } from '../../shared/api/parseIds';
import { InvalidInput } from '../../shared/api/errors';
import type { Reader } from '../../shared/api/resolution';
import type { CallRequest, DataExtractionItem } from '../../shared/api/endpoints';
import { type Fields, MAY_BE_BLANK } from '../../shared/n8n/forms/fields';
import { phoneNumber } from '../../shared/phone/callPhone';
import { countryCode } from '../../shared/phone/countries';
import { loosePhoneKey, phoneKey } from '../../shared/phone/phoneKey';
import { isUnset, type Problem, type Take } from '../../shared/values';
import type { TimeSettings } from '../callTime';
import { readCallingHours } from './callingHours';
import { readCallLimit } from './callLimit';
import { readCallSettings } from './callSettings';
import { readAdditionalData, readDataPoints, shortGreeting } from './conversation';
import { completeUrl } from './options';
import { readSchedule } from './when';

/** A checked call. Only its time depends on when it's sent. */
export type CheckedCall = {
	/** Has the time as entered, if any. */
	request: CallRequest;
	time: TimeSettings;
	/** The international form of the number, if it's clear. */
	phoneKey: string | null;
	/** Equal for all numbers that may be the same. */
	looseKey: string;
};

/**
 * Reads the call of one item, and checks every documented limit. Fields that both operations have may be options of one
 * of them.
 *
 * @param zone the time zone of the workflow
 * @param question the data point of *Ask and Wait*
 * @throws InvalidInput naming all fields to correct, or the first one with a value of another type
 */
export function readCallForm(
	form: Fields,
	zone: string,
	question?: DataExtractionItem,
): CheckedCall {
	const problems: Problem[] = [];
	const take: Take = (checked) => {
		if ('value' in checked) return checked.value;
		problems.push(checked.problem);
		return undefined;
	};
	const optional: Partial<CallRequest> = {};
	/** Leaves an empty value out, so that it doesn't override the agent's. */
	const set = <Name extends keyof CallRequest>(
		name: Name,
		value: CallRequest[Name] | undefined,
	): void => {
		if (value !== undefined && !isUnset(value)) optional[name] = value;
	};
	const options = form.collection('options');
	const textIn = (name: string): string => {
		const shownIn = [form, options].find((fields) => fields.has(name));
		return shownIn?.text(name, MAY_BE_BLANK) ?? '';
	};

	const agent = take(checkAgentUuid(form.text('agentUuid')));
	const country = take(countryCode(form.text('countryCode')));
	const number = form.text('phoneNumber');
	const phone = take(phoneNumber(number, country));
	set('person_name', textIn('personName'));
	const schedule = form.has('when') ? readSchedule(form, zone, take) : undefined;
	set('scheduled_at', schedule?.at);
	set('initial_greeting', take(shortGreeting(textIn('initialGreeting'))));
	const points = readDataPoints(form, take, question);
	set('data_extraction', points.length > 0 ? points : undefined);
	set('additional_data', readAdditionalData(form, take));
	set('call_config_overrides', readCallSettings(form, take));
	set('system_prompt', options.text('systemPrompt'));
	const hours = readCallingHours(options, take);
	const limit = readCallLimit(options, take);
	const webhookUrl = options.has('webhookUrl') ? options.text('webhookUrl') : '';
	set('webhook_url', webhookUrl === '' ? undefined : take(completeUrl(webhookUrl)));

	const isComplete = agent !== undefined && phone !== undefined && country !== undefined;
	const looseKey = isComplete ? take(loosePhoneKey(number, country)) : undefined;
	if (!isComplete || looseKey === undefined || problems.length > 0) throw needsAttention(problems);
	return {
		request: { agent_uuid: agent, phone_number: phone, country_code: country, ...optional },
		time: { schedule, hours, limit },
		phoneKey: phoneKey(number, country),
		looseKey,
	};
}

function needsAttention(problems: Problem[]): InvalidInput {
	const [first, ...others] = problems;
	if (first !== undefined && others.length === 0)
		return new InvalidInput(first.message, first.resolution);
	const numbered = (reader: Reader) =>
		problems
			.map(({ message, resolution }, i) => `(${i + 1}) ${message}. ${resolution[reader]}`.trim())
			.join(' ');
	return new InvalidInput(`${problems.length} fields need attention, so the call wasn't placed`, {
		onScreen: numbered('onScreen'),
		forModel: numbered('forModel'),
	});
}
