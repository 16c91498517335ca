import isPlainObject from 'lodash/isPlainObject';
import { DateTime } from 'luxon';
import { isResourceLocatorValue, type INodeProperties } from 'n8n-workflow';
import { InvalidInput } from '../../core/service/errors';
import type { JsonValue } from '../../core/values/json';
import { enter, hasFormat } from '../../core/service/modelFormats';
import { isUnset, quoted } from '../../core/values/values';

/** Where the values of a form come from, by their path. */
export type FieldSource = (path: string) => {
	/** The stored value, expression, or `ABSENT`. */
	raw: unknown;
	/** The value, or the result of its expression. */
	value: () => unknown;
	/** Why it isn't read. */
	unread?: string | undefined;
};

/** For a field that the form hides, or an option that isn't added. */
export const ABSENT = Symbol('no value');

/** A value with the declaration of its field. */
export type Given = {
	property: INodeProperties;
	/** The field in messages. */
	label: string;
	value: unknown;
	isExpression: boolean;
	/** Whether a model filled it in. */
	isFromModel: boolean;
};

export function hasExpression(raw: unknown): boolean {
	if (typeof raw === 'string') return raw.startsWith('=');
	if (typeof raw !== 'object' || raw === null) return false;
	return Object.values(raw).some(hasExpression);
}

const FROM_MODEL = /\$fromAI\s*\(/i;

export function isFromModel(raw: unknown): boolean {
	const inner: unknown = isResourceLocatorValue(raw) ? raw.value : raw;
	return typeof inner === 'string' && FROM_MODEL.test(inner);
}

/** A value that is passed on unchanged. */
export type Scalar = string | number | boolean;

/** A time from a date picker or an expression. A text may be invalid. */
export type TimeValue = string | number | Date | DateTime;

/** The kind of value that a field must have, for messages. */
export type Wanted = string | ((property: INodeProperties) => string);

/** How a field is read. */
export type Kind<T> = {
	wanted: Wanted;
	/** @returns undefined for a value of another kind */
	parse: (value: unknown, property: INodeProperties) => T | undefined;
};

/** The value of a field, or of an entry of its list. @throws InvalidInput for a value of another kind */
export function parsed<T>(given: Given, { parse, wanted }: Kind<T>, value = given.value): T {
	const result = parse(value, given.property);
	if (result !== undefined) return result;
	throw fault({ ...given, value }, wanted);
}

/** Trimmed. Spreadsheets have numbers for IDs and phone numbers. */
export const TEXT: Kind<string> = {
	wanted: 'text or a number',
	parse: textIn,
};

function textIn(value: unknown): string | undefined {
	const isText = typeof value === 'string' || typeof value === 'bigint' || isFiniteNumber(value);
	return isText ? String(value).trim() : undefined;
}

export const SCALAR: Kind<Scalar> = {
	wanted: 'text, a number, true, or false',
	parse: (value) => (typeof value === 'boolean' || isFiniteNumber(value) ? value : textIn(value)),
};

/** A boolean, or its word. */
export const BOOLEAN: Kind<boolean> = {
	wanted: 'true or false',
	parse: (value, { noDataExpression = false }) => {
		if (typeof value === 'boolean') return value;
		// n8n shows other fields depending on a field without expressions, and doesn't accept text for it.
		const word = typeof value === 'string' && !noDataExpression ? value.trim().toLowerCase() : '';
		return word === 'true' || word === 'false' ? word === 'true' : undefined;
	},
};

/** One of the field's options, as text. */
export const OPTION: Kind<string> = {
	wanted: (property) => {
		const named = valuesOf(property).map((one) => quoted(String(one)));
		return named.length === 1 ? named.join() : `one of ${named.join(', ')}`;
	},
	parse: (value, property) => {
		const written = typeof value === 'string' ? value.trim() : value;
		const found = valuesOf(property).find((one) => one === written || String(one) === written);
		return found === undefined ? undefined : String(found);
	},
};

function valuesOf({ options = [] }: INodeProperties) {
	return options.flatMap((option) => ('value' in option ? [option.value] : []));
}

const WRITTEN_NUMBER = /^\s*[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?\s*$/i;

export const NUMBER: Kind<number> = {
	wanted: 'a number',
	parse: (value) => {
		const isWritten = typeof value === 'string' && WRITTEN_NUMBER.test(value);
		const number = isWritten ? Number(value) : value;
		return isFiniteNumber(number) ? number : undefined;
	},
};

export const TIME: Kind<TimeValue> = {
	wanted: 'a time',
	parse: (value) => {
		const isTime = value instanceof Date || DateTime.isDateTime(value) || isFiniteNumber(value);
		return isTime ? value : textIn(value);
	},
};

/** `lostInJson` checks the contents of lists and objects. */
export const JSON_VALUE: Kind<JsonValue> = {
	wanted: 'JSON',
	parse: (value) => (isJson(value) ? value : undefined),
};

function isFiniteNumber(value: unknown): value is number {
	return typeof value === 'number' && Number.isFinite(value);
}

function isJson(value: unknown): value is JsonValue {
	if (typeof value === 'object') return Array.isArray(value) || isPlainObject(value);
	return typeof value === 'string' || typeof value === 'boolean' || isFiniteNumber(value);
}

/** For a value that isn't of the wanted kind. */
export function fault({ property, label, value, ...given }: Given, kind: Wanted): InvalidInput {
	const { displayName, typeOptions } = property;
	const wanted = typeof kind === 'string' ? kind : kind(property);
	const shown = typeOptions?.password === true ? kindOf(value) : shownValue(value);
	const format = hasFormat(displayName) ? enter(displayName) : `Enter ${wanted}.`;
	const isOfOwner = given.isExpression && !given.isFromModel;
	const resolution = isOfOwner ? `In n8n, check what the expression of ${label} returns.` : format;
	return new InvalidInput(`${label} must be ${wanted} (got ${shown})`, resolution);
}

/** A value for a message. */
function shownValue(value: unknown): string {
	if (typeof value === 'number' || typeof value === 'boolean') return String(value);
	return typeof value === 'string' && !isUnset(value) ? quoted(value) : kindOf(value);
}

/** The kind of a value, without the value. */
function kindOf(value: unknown): string {
	if (value === undefined || value === null) return 'nothing';
	if (typeof value === 'string') return isUnset(value) ? 'nothing' : 'text';
	if (value instanceof Date || DateTime.isDateTime(value)) return 'a date';
	if (Array.isArray(value)) return 'a list';
	return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
