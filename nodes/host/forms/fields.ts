import { isResourceLocatorValue, type INodeProperties } from 'n8n-workflow';
import {
	isJsonObject,
	lostInJson,
	type JsonObject,
	type JsonValue,
	parseJson,
} from '../../core/values/json';
import { InvalidInput } from '../../core/service/errors';
import { NULLS } from '../../core/values/sheetCells';
import { isUnset, plainText } from '../../core/values/values';
import {
	ABSENT,
	BOOLEAN,
	fault,
	type FieldSource,
	type Given,
	hasExpression,
	isFromModel,
	JSON_VALUE,
	type Kind,
	NUMBER,
	OPTION,
	parsed,
	SCALAR,
	type Scalar,
	TEXT,
	TIME,
	type TimeValue,
	type Wanted,
} from './fieldValue';

/** Whether an expression may return nothing. */
type Blank = { mayBeBlank?: true };

/**
 * Allows expressions that return nothing, for data of a row, which may have blank cells. By default they stop the node,
 * because a switch, filter, limit, or secret would silently be off. Required fields may be blank, because their
 * readers reject empty values.
 */
export const MAY_BE_BLANK: Blank = { mayBeBlank: true };

/** The fields of a form, or the options of a collection. */
type Declared = ReadonlyArray<NonNullable<INodeProperties['options']>[number]>;

const JSON_OBJECT = 'a JSON object in curly brackets';

/** The texts that n8n, JavaScript, and Luxon write for an object and for an invalid date. */
const UNREADABLE = /\[object \w+\]|Invalid Date/;

/**
 * Reads the fields of a form, or of a collection in it, by their declared types. A value of another type stops the node
 * with the field's name. If the form doesn't show a field, the reader returns `fallback`.
 *
 * @throws InvalidInput from every reader, for a value of another type
 */
export class Fields {
	/**
	 * @param prefix of the paths of these fields, such as `options.`
	 * @param location the collection of these fields, for messages
	 */
	constructor(
		private readonly declared: Declared,
		private readonly source: FieldSource,
		private readonly prefix = '',
		private readonly location = '',
	) {}

	/** Whether the form shows the field, or the option is added. */
	has(name: string): boolean {
		return this.source(this.prefix + name).raw !== ABSENT;
	}

	/** The field's expression. Empty if it has a fixed value. */
	expression(name: string): string {
		const { raw } = this.source(this.prefix + name);
		const inner: unknown = isResourceLocatorValue(raw) ? raw.value : raw;
		return typeof inner === 'string' && inner.startsWith('=') ? inner : '';
	}

	/** A boolean, or the text "true" or "false" from a spreadsheet or model. */
	switch<T>(name: string, fallback: T): boolean | T {
		return this.readShown(name, BOOLEAN, fallback);
	}

	/** A finite number, also as text. */
	number<T>(name: string, fallback: T): number | T {
		return this.readShown(name, NUMBER, fallback);
	}

	/**
	 * A whole number within the field's bounds, which n8n checks only while a person enters it. `undefined` if the form doesn't
	 * show the field.
	 */
	wholeNumber(name: string): number | undefined {
		const value = this.number(name, undefined);
		const { displayName, typeOptions = {} } = this.propertyOf(name);
		const { minValue: min, maxValue: max } = typeOptions;
		if (min === undefined || max === undefined) throw new TypeError(`${name} has no bounds`);
		if (value === undefined) return undefined;
		if (Number.isInteger(value) && value >= min && value <= max) return value;
		const bounds = `from ${min} to ${max.toLocaleString('en-US')}`;
		throw new InvalidInput(
			`'${displayName}' must be a whole number ${bounds} (got ${value})`,
			`Enter a whole number ${bounds}.`,
		);
	}

	/** One of the field's options, as text. */
	choice<T>(name: string, fallback: T): string | T {
		return this.readShown(name, OPTION, fallback);
	}

	/** Trimmed text, also of a choice that may be another text. Numbers are converted. Empty if the field is. */
	text(name: string, blank?: Blank): string {
		return this.read(name, TEXT, blank) ?? '';
	}

	/** Text, or the texts of a list: several options, or the result of an expression. */
	textOrList(name: string): string | string[] {
		const given = this.givenList(name);
		if (given === undefined || isEmpty(given, TEXT.wanted)) return '';
		const { value } = given;
		if (!Array.isArray(value)) return parsed(given, TEXT);
		return value.map((one: unknown) => parsed(given, TEXT, one));
	}

	/** Trimmed text, a number, true, or false, not converted: a number such as -9876543119 isn't a phone number. */
	scalar(name: string, blank?: Blank): Scalar {
		return this.read(name, SCALAR, blank) ?? '';
	}

	/** Some of the field's options. From a model, as text with commas. */
	choices(name: string): string[] {
		const given = this.givenList(name);
		if (given === undefined || isEmpty(given, 'a list')) return [];
		const { value } = given;
		const chosen: unknown = typeof value === 'string' ? value.split(',') : value;
		if (!Array.isArray(chosen)) throw fault(given, 'a list');
		const named = chosen.filter((one) => !isUnset(one));
		return named.map((one: unknown) => parsed(given, OPTION, one));
	}

	/** `undefined` if the field is empty. */
	time(name: string): TimeValue | undefined {
		return this.read(name, TIME);
	}

	/**
	 * A JSON value, or its text, for rows: a value that JSON can't express is a blank cell, as in an input item. `undefined`
	 * if the field is empty, or its expression returned nothing.
	 */
	jsonRows(name: string): JsonValue | undefined {
		return this.read(name, JSON_VALUE, MAY_BE_BLANK);
	}

	/** A JSON object. Empty if the field is empty. */
	jsonObject(name: string, blank?: Blank): JsonObject {
		const given = this.given(name);
		if (given === undefined || isEmpty(given, JSON_OBJECT, blank)) return {};
		const value = parsed(given, JSON_VALUE);
		const object = typeof value === 'string' ? parseJson(value) : value;
		const lost = lostInJson(object);
		if (lost !== undefined) throw fault({ ...given, value: lost }, 'JSON');
		if (isJsonObject(object)) return object;
		throw fault(given, JSON_OBJECT);
	}

	/** The members of a collection. */
	collection(name: string): Fields {
		// It may be declared several times, each shown with other values of other fields.
		const all = this.declared.filter(isDeclared(name));
		const members = all.flatMap(({ options = [] }) => options);
		const { displayName } = this.propertyOf(name);
		return new Fields(members, this.source, `${this.prefix}${name}.`, `'${displayName}'`);
	}

	/** The rows of a fixed collection with one group, or its only one. */
	rows(name: string): Fields[] {
		const { displayName, options = [] } = this.propertyOf(name);
		const group = options.find((option) => 'values' in option);
		if (group === undefined) throw new TypeError(`The form declares no group of ${name}`);
		const path = `${this.prefix}${name}.${group.name}`;
		const { raw } = this.source(path);
		const rows: unknown[] = Array.isArray(raw) ? raw : raw === ABSENT ? [] : [raw];
		return rows.map((_row, index) => {
			const isOneOfSeveral = Array.isArray(raw);
			const nth = isOneOfSeveral ? `${group.displayName} ${index + 1} of ` : '';
			const place = isOneOfSeveral ? `${path}[${index}]` : path;
			return new Fields(group.values, this.source, `${place}.`, `${nth}'${displayName}'`);
		});
	}

	/** The fallback if the form doesn't show it. An empty value is of another type. */
	private readShown<T, Other>(name: string, kind: Kind<T>, fallback: Other): T | Other {
		const given = this.given(name);
		return given === undefined ? fallback : parsed(given, kind);
	}

	private read<T>(name: string, kind: Kind<T>, blank?: Blank): T | undefined {
		const given = this.given(name);
		if (given === undefined || isEmpty(given, kind.wanted, blank)) return undefined;
		return parsed(given, kind);
	}

	private given(name: string): Given | undefined {
		const property = this.propertyOf(name);
		const { raw, value: read, unread } = this.source(this.prefix + name);
		if (raw === ABSENT) return undefined;
		const label = `'${property.displayName}'${this.location === '' ? '' : ` in ${this.location}`}`;
		if (unread !== undefined)
			throw new InvalidInput(
				`n8n may give ${label} another value than is meant, so nothing was sent`,
				unread,
			);
		const returned = read();
		const byModel = isFromModel(raw);
		const value = byModel && NULLS.has(plainText(returned).trim()) ? undefined : returned;
		// A model leaves a field empty with an empty text.
		const isExpression = hasExpression(raw) && !(byModel && value === '');
		const given = { property, label, value, isExpression, isFromModel: byModel };
		if (isExpression && typeof value === 'string' && UNREADABLE.test(value))
			throw fault(given, 'text without objects and invalid dates');
		// n8n treats an expression as text if the field can't have expressions.
		if (property.noDataExpression && typeof value === 'string' && value.includes('{{'))
			throw fault(given, 'a value without expressions');
		return given;
	}

	/** An empty list is a value. A list with only empty values is nothing. */
	private givenList(name: string): Given | undefined {
		const given = this.given(name);
		const list: unknown = given?.value;
		const isNothing = Array.isArray(list) && list.length > 0 && list.every(isUnset);
		return given && isNothing ? { ...given, value: undefined } : given;
	}

	private propertyOf(name: string): INodeProperties {
		const property = this.declared.find(isDeclared(name));
		if (property !== undefined) return property;
		throw new TypeError(`The form declares no ${this.prefix}${name}`);
	}
}

/** Whether an option is the field of this name. */
function isDeclared(name: string) {
	return (option: Declared[number]): option is INodeProperties =>
		option.name === name && 'type' in option;
}

/** @throws InvalidInput if an expression returned nothing, unless that is allowed */
function isEmpty(given: Given, wanted: Wanted, { mayBeBlank }: Blank = {}): boolean {
	if (!isUnset(given.value)) return false;
	const { typeOptions, required } = given.property;
	// A secret of spaces would be none.
	const isLeftEmpty = !given.isExpression && (given.value === '' || typeOptions?.password !== true);
	if (isLeftEmpty || mayBeBlank === true || required === true) return true;
	throw fault(given, wanted);
}
