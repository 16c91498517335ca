import type { INodeProperties } from 'n8n-workflow';
import { InvalidInput } from '../../shared/api/errors';
import type { Reader } from '../../shared/api/resolution';
import type { CallRequest } from '../../shared/api/endpoints';
import type { Fields } from '../../shared/n8n/forms/fields';
import { calledNumberKey } from '../../shared/phone/phoneKey';
import { type Checked, isUnset, type Problem } from '../../shared/values';
import type { CallLimit } from '../../shared/calls/callsPerPerson';
import type { CallingHours, Schedule, TimeSettings } from '../callTime';

/** A field of a call: how the form shows it, and what it adds to the request. */
export type CallField = {
	/** Several if they belong together, such as the same field in a tool. */
	properties: INodeProperties[];
	/** @param fields the form, or the collection that shows the field */
	addTo(draft: CallDraft, fields: Fields): void;
};

export function propertiesOf(...fields: CallField[]): INodeProperties[] {
	return fields.flatMap(({ properties }) => properties);
}

/** A checked call. Only its time depends on when it's sent. */
export type CheckedCall = {
	request: CallRequest;
	time: TimeSettings;
	/** Set if the number of calls to one person is limited. */
	limit: CallLimit | undefined;
	/** The international form of the number, if it's clear. */
	phoneKey: string | null;
	/** Equal for equal numbers: the international form, or the number as sent. */
	numberKey: string;
};

/** Collects the request of a call, and the problems of all fields, so that one message names them all. */
export class CallDraft {
	readonly request: Partial<CallRequest> = {};
	schedule: Schedule | undefined;
	hours: CallingHours | undefined;
	limit: CallLimit | undefined;
	phoneKey: string | null = null;
	private readonly problems: Problem[] = [];

	/** @param zone the time zone of the workflow */
	constructor(readonly zone: string) {}

	/** The valid value. Otherwise, the problem is reported with those of other fields. */
	take<T>(checked: Checked<T>): T | undefined {
		if ('value' in checked) return checked.value;
		this.problems.push(checked.problem);
		return undefined;
	}

	/** Adds a value to the request, unless it's empty, so that it doesn't override the agent's. */
	set<Name extends keyof CallRequest>(name: Name, value: CallRequest[Name] | undefined): void {
		if (value !== undefined && !isUnset(value)) this.request[name] = value;
	}

	/** @throws InvalidInput naming all fields to correct */
	checked(): CheckedCall {
		const { agent_uuid: agent, phone_number: phone, country_code: country, ...rest } = this.request;
		const isComplete = agent !== undefined && phone !== undefined && country !== undefined;
		if (!isComplete || this.problems.length > 0) throw needsAttention(this.problems);
		const required = { agent_uuid: agent, phone_number: phone, country_code: country };
		const { schedule, hours, limit, phoneKey } = this;
		const isLimited = limit !== undefined;
		return {
			request: { ...required, ...rest },
			time: { scheduledAt: rest.scheduled_at, schedule, hours, isLimited },
			limit,
			phoneKey,
			numberKey: calledNumberKey(phoneKey, country, phone),
		};
	}
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
