import deburr from 'lodash/deburr';
import type { INodeProperties } from 'n8n-workflow';
import { COUNTRIES, countryName } from '../../core/phone/countries';

/** Who types India finds India before this one. */
const AFTER_INDIA: { [code: string]: string } = { IO: 'Territory, British Indian Ocean' };

const named = COUNTRIES.map((code) => {
	const name = countryName(code);
	const plain = deburr(name).replace('\u2019', "'");
	const label = plain === name ? code : `${code}, ${plain}`;
	// The editor searches these names, so they also have the code and the spelling without accents.
	return { name: `${AFTER_INDIA[code] ?? name} (${label})`, value: code };
});
const countries = named.sort((a, b) => a.name.localeCompare(b.name, 'en'));

/** 'Country' of a phone number, as a list. */
export const countryField: INodeProperties = {
	displayName: 'Country',
	name: 'countryCode',
	type: 'options',
	options: countries,
	default: 'IN',
};

/** The same, if a number needs no country. Without its country code, it's then read as an Indian mobile number. */
export const optionalCountryField: INodeProperties = {
	...countryField,
	options: [{ name: '(From the Number, or India)', value: '' }, ...countries],
	default: '',
};
