import isPlainObject from 'lodash/isPlainObject';
import { DateTime } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';
import { InvalidInput } from '../../api/errors';
import { onScreenOnly } from '../../api/resolution';
import { MAX_DEPTH, isTooDeep, type JsonValue } from '../../json';
import { formatOf, hasFormat } from '../../modelFormats';
import { isUnset, quoted } from '../../values';

/** Where the values of a form come from. */
export type FieldSource = {
	/** The stored value, expression, or `ABSENT`. */
	raw(path: string): unknown;
	/** The value, the result of its expression, or `UNEVALUATED`. */
	value(path: string): unknown;
	/** Evaluates the code of one expression. Absent if n8n can only evaluate whole fields. */
	evaluate?: (code: string) => unknown;
};

/** For a field that the form hides, or an option that isn't added. */
export const ABSENT = Symbol('no value');

/** For an expression that n8n can't evaluate, if n8n doesn't report it. */
export const UNEVALUATED = Symbol('not evaluated');

/** A value that is passed on unchanged. */
export type Scalar = string | number | boolean;

/** A time from a date picker or an expression. A text may be invalid. */
export type TimeValue = string | number | Date | DateTime;

export const SCALAR = 'text, a number, true, or false';

const FROM_MODEL = /\$fromAI\(/i;
export const NUMBER = /^\s*[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?\s*$/i;

/** What an empty value means. See `MAY_BE_BLANK`, `NEEDS_VALUE`, and `MAY_BE_EMPTY_LIST`. */
export type Blank = { mayBeBlank?: boolean; needsValue?: boolean; mayBeEmptyList?: boolean };

/** A value with the declaration of its field. */
export type Given = {
	property: INodeProperties;
	/** The field in messages. */
	label: string;
	value: unknown;
	isExpression: boolean;
	/** Whether a model filled it in. */
	isFromModel: boolean;
	/** Whether only the text around its expressions remains. */
	isOnlyTextAround: boolean;
	isEmptyList?: boolean;
};

type Locator = { __rl: true; value: unknown };

/** The stored value of a field with *From List* and *By ID*. */
export function isLocator(raw: unknown): raw is Locator {
	return isPlainObject(raw) && typeof raw === 'object' && raw !== null && '__rl' in raw;
}

export function hasExpression(raw: unknown): boolean {
	if (typeof raw === 'string') return raw.startsWith('=');
	if (typeof raw !== 'object' || raw === null) return false;
	return Object.values(raw).some(hasExpression);
}

export function isFromModel(raw: unknown): boolean {
	const inner = isLocator(raw) ? raw.value : raw;
	return typeof inner === 'string' && FROM_MODEL.test(inner);
}

/** A model may write "null" for an empty value. */
export function isNothingInWords(value: unknown): boolean {
	return typeof value === 'string' && ['null', 'undefined'].includes(value.trim());
}

export function isExpressionText(value: unknown): boolean {
	return typeof value === 'string' && value.includes('{{') && value.includes('}}');
}

export function asList(value: unknown): unknown[] {
	return Array.isArray(value) ? value : value === ABSENT ? [] : [value];
}

/** `lostInJson` checks the contents of lists and objects. */
export function isJson(value: unknown): value is JsonValue {
	if (typeof value === 'number') return Number.isFinite(value);
	if (typeof value === 'object') return Array.isArray(value) || isPlainObject(value);
	return typeof value === 'string' || typeof value === 'boolean';
}

/** @throws InvalidInput if lists and objects are nested too deep to be traversed */
export function requireShallow<T>(value: T): T {
	if (isTooDeep(value)) throw tooDeep();
	return value;
}

export function tooDeep(): InvalidInput {
	return new InvalidInput(
		`A field of this node contains lists or objects that are nested more than ${MAX_DEPTH} levels deep, so nothing was sent`,
		onScreenOnly('In the node before this one, extract the part that you need.'),
	);
}

/** A value for a message. */
function shownValue(value: unknown): string {
	if (typeof value === 'number' || typeof value === 'boolean') return String(value);
	return typeof value === 'string' && !isUnset(value) ? quoted(value) : kindOf(value);
}

/** The kind of a value, without the value. */
function kindOf(value: unknown): string {
	if (value === undefined || value === null) return 'nothing';
	if (typeof value === 'string') return isUnset(value) ? 'an empty text' : 'text';
	if (typeof value === 'number') return "a number that isn't exact";
	if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid date' : 'a date';
	if (DateTime.isDateTime(value)) return value.isValid ? 'a date' : 'an invalid date';
	if (Array.isArray(value)) return 'a list';
	return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** @throws InvalidInput if an expression returned nothing, unless that is allowed */
export function isEmpty(
	given: Given,
	{ mayBeBlank = false, needsValue = false, mayBeEmptyList = false }: Blank,
	wanted: string,
): boolean {
	if (!isUnset(given.value) && !(needsValue && given.isOnlyTextAround)) return false;
	if (!given.isExpression || mayBeBlank) return true;
	if (mayBeEmptyList && given.isEmptyList === true) return true;
	throw fault(given, wanted, 'clear the field');
}

export function textIn(given: Given, value: unknown, wanted = 'text or a number'): string | number {
	if (typeof value === 'string') return value;
	if (typeof value === 'number' && Number.isFinite(value)) return value;
	if (typeof value === 'bigint') return String(value);
	throw fault(given, wanted);
}

export function scalarIn(given: Given, value: unknown): Scalar {
	return typeof value === 'boolean' ? value : textIn(given, value, SCALAR);
}

export function optionOf(given: Given, value: unknown): string {
	const { options = [] } = given.property;
	const values = options.flatMap((option) => ('value' in option ? [option.value] : []));
	const written = typeof value === 'string' ? value.trim() : value;
	const found = values.find((one) => one === written || String(one) === written);
	if (found !== undefined) return String(found);
	const named = values.map((one) => quoted(String(one))).join(', ');
	throw fault({ ...given, value }, values.length === 1 ? named : `one of ${named}`);
}

/** The format of a value, for a model. */
export function formFor(field: string, wanted: string): string {
	return hasFormat(field) ? formatOf(field) : `Give ${field} as ${wanted}.`;
}

/** @param alternative to correcting an expression */
export function fault(given: Given, wanted: string, alternative?: string): InvalidInput {
	const { property, label, isExpression } = given;
	const value = given.isOnlyTextAround ? undefined : given.value;
	const { typeOptions } = property;
	const shown = typeOptions?.password === true ? kindOf(value) : shownValue(value);
	const { displayName } = property;
	const forModel = given.isFromModel ? formFor(displayName, wanted) : '';
	if (!isExpression) {
		const what = value === '' ? 'is empty' : `must be ${wanted} (got ${shown})`;
		return new InvalidInput(`${label} ${what}`, {
			onScreen: `Enter ${wanted}.`,
			forModel,
		});
	}
	const onScreen =
		alternative === undefined
			? `Make the expression return ${wanted}.`
			: `Make the expression return ${wanted}, or ${alternative}.`;
	return new InvalidInput(`${label} must be ${wanted}, but its expression returned ${shown}`, {
		onScreen,
		forModel,
	});
}
