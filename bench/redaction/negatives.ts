// Generates hard negatives: values that look like those that rules find, and are none.
import { alphanumerics, capitals, digits, type Random } from "./random.ts";

const hex = "0123456789abcdef";

const kinds: Record<string, (random: Random) => string> = {
  "order number": random =>
    random.pick([
      () => random.shape("N#########"),
      () => random.shape("ORD-####-######"),
      () => random.shape("AAA-##########"),
      () => random.shape("1###############"),
      () => random.shape("NN-#######-#######"),
      () => random.shape("2024-######"),
      () => random.shape("########"),
    ])(),
  UUID: random => random.shape("xxxxxxxx-xxxx-4xxx-axxx-xxxxxxxxxxxx"),
  "UUID of digits": random => random.shape("########-####-4###-8###-############"),
  hash: random => random.chars(random.pick([7, 32, 40, 64]), hex),
  "trace ID": random => random.chars(32, hex),
  version: random =>
    random.pick([
      `v${random.below(20)}.${random.below(20)}.${random.below(99)}.${random.below(99)}`,
      random.shape("##.#.####"),
      `version ${random.below(9)}.${random.below(9)}.${random.below(9)}.${random.below(9)}`,
      random.shape("Chrome/1##.0.0.0"),
    ]),
  time: random =>
    random.pick([
      random.shape("2024-0N-1# 1#:##:##"),
      random.shape("1#.0N.2023 1#:##"),
      random.shape("202N-1#-0NT1#:##:##.###Z"),
      random.shape("17########"),
      random.shape("17###########"),
      random.shape("17#################"),
      random.shape("0#:##:##"),
      random.shape("10/1#/2024"),
    ]),
  ISBN: random =>
    random.pick([
      random.shape("978-3-16-######-#"),
      random.shape("ISBN 978#########N"),
      random.shape("ISBN 0-##-######-#"),
    ]),
  coordinates: random =>
    random.pick([
      random.shape("52.######, 13.######"),
      random.shape("-33.######,151.######"),
      random.shape("40.####° N, 74.####° W"),
    ]),
  amount: random =>
    random.pick([
      random.shape("N.###.###,## €"),
      random.shape("$N,###,###.##"),
      random.shape("NN ### ### kr"),
      random.shape("N### tokens"),
      random.shape("0.##########"),
    ]),
  "MAC address": random => random.shape("xx:xx:xx:xx:xx:xx"),
  file: random =>
    random.pick([
      "logo@2x.png",
      "react@18.2.0",
      "@types/node@20.11.5",
      random.shape("IMG_2024####_######.jpg"),
      "git@github.com:acme/app.git",
      "user@localhost",
    ]),
  code: random =>
    random.pick([
      "std::vector",
      "a::b",
      "max_tokens: 4096",
      "token: null",
      "password: string",
      "the token limit is 8192",
      "Secret: required",
      "password reset",
      "sk-learn-contrib-extensions",
      "api_key=<API_KEY>",
      "Bearer authentication",
      "password: ********",
      "password=<your-password>",
    ]),
  "tracking number": random =>
    random.pick([
      random.shape("1Z###AA##########"),
      random.shape("JJD0###############"),
      `${random.chars(2, capitals)}${random.chars(9, digits)}DE`,
    ]),
  ID: random =>
    random.pick([
      `req_${random.chars(24, alphanumerics)}`,
      `call_${random.chars(24, alphanumerics)}`,
      `chatcmpl-${random.chars(29, alphanumerics)}`,
      `msg_${random.chars(20, alphanumerics)}`,
      random.shape("usr-########"),
      random.shape("run 10##-##-##"),
    ]),
};

export const negativeKinds = Object.keys(kinds);

export function negative(random: Random, kind: string): string {
  return kinds[kind]!(random);
}
