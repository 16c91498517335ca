import type { Dialect } from '../dialects';
import { isObject, type JsonObject } from '../json';

export interface CheckedContact {
	/** International form. */
	phone: string;
	personName: string | null;
	extra: JsonObject;
	/** As sent. */
	written: string;
	/** Index in the request. */
	index: number;
}

const MOBILE = /^[6-9]\d{9}$/;
const INTERNATIONAL = /^\+91\d{10}$/;

/** The contacts in their stored form, and validation errors: only the first one if the dialect reports one. */
export function checkedContacts(list: unknown[], { campaigns }: Dialect) {
	const contacts: CheckedContact[] = [];
	const problems: string[] = [];
	for (const [index, value] of list.entries()) {
		const contact = checked(value, index, campaigns.plus91NeedsMobile);
		if (typeof contact !== 'string') contacts.push(contact);
		else problems.push(`contacts[${index + campaigns.firstContactIndex}]${contact}`);
		if (problems.length > 0 && !campaigns.reportsEveryBadContact) break;
	}
	return { contacts, problems };
}

function checked(value: unknown, index: number, needsMobile: boolean): CheckedContact | string {
	if (!isObject(value)) return ' must be an object';
	const { phone, person_name: name = null, ...extra } = value;
	if (typeof phone !== 'string') return '.phone must be a string';
	if (name !== null && typeof name !== 'string') return '.person_name must be a string';
	const isInternational = INTERNATIONAL.test(phone);
	if (!isInternational && !MOBILE.test(phone)) return '.phone is not a valid phone number';
	if (isInternational && needsMobile && !MOBILE.test(phone.slice(3))) {
		return '.phone is not a mobile number';
	}
	const stored = isInternational ? phone : `+91${phone}`;
	return { phone: stored, written: phone, personName: name, extra, index };
}

/** One contact per number, with the longer name. The dialect decides whose extra keys are kept. */
export function withoutDuplicates(
	contacts: CheckedContact[],
	keep: Dialect['campaigns']['duplicates'],
): CheckedContact[] {
	const byPhone = new Map<string, CheckedContact>();
	for (const contact of contacts) {
		const first = byPhone.get(contact.phone) ?? contact;
		const isLonger = (contact.personName?.length ?? 0) > (first.personName?.length ?? 0);
		const longer = isLonger ? contact : first;
		const extra = keep === 'first' ? first.extra : { ...first.extra, ...contact.extra };
		const joined = { ...first, personName: longer.personName, extra };
		byPhone.set(contact.phone, keep === 'longerName' ? longer : joined);
	}
	return [...byPhone.values()];
}
