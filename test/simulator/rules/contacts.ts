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

/** The contact in its stored form, or a validation error. */
export function checkedContact(
	value: unknown,
	index: number,
	{ campaigns }: Dialect,
): CheckedContact | string {
	const at = `contacts[${index + campaigns.firstContactIndex}]`;
	if (!isObject(value)) return `${at} must be an object`;
	const { phone, person_name: name, ...extra } = value;
	if (typeof phone !== 'string') return `${at}.phone must be a string`;
	if (name !== undefined && typeof name !== 'string') return `${at}.person_name must be a string`;
	const international = INTERNATIONAL.test(phone);
	if (!international && !MOBILE.test(phone)) return `${at}.phone is not a valid phone number`;
	if (international && campaigns.plus91NeedsMobile && !MOBILE.test(phone.slice(3))) {
		return `${at}.phone is not a mobile number`;
	}
	const stored = international ? phone : `+91${phone}`;
	return { phone: stored, written: phone, personName: name ?? null, extra, index };
}

/** One contact per number, with the longer name. The dialect decides whose extra keys are kept. */
export function withoutDuplicates(
	contacts: CheckedContact[],
	keep: Dialect['campaigns']['duplicates'],
): CheckedContact[] {
	const byPhone = new Map<string, CheckedContact>();
	for (const contact of contacts) {
		const seen = byPhone.get(contact.phone);
		byPhone.set(contact.phone, seen ? joined(seen, contact, keep) : contact);
	}
	return [...byPhone.values()];
}

function joined(
	first: CheckedContact,
	second: CheckedContact,
	keep: Dialect['campaigns']['duplicates'],
): CheckedContact {
	const secondIsLonger = (second.personName?.length ?? 0) > (first.personName?.length ?? 0);
	const longer = secondIsLonger ? second : first;
	if (keep === 'longerName') return longer;
	const extra = keep === 'first' ? first.extra : { ...first.extra, ...second.extra };
	return { ...first, personName: longer.personName, extra };
}
