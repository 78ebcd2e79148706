// The prover's side of rounds 2 to 8 of docs/protocol.md, written once over any backend. The caller
// has committed the base trees, absorbed the statement and their roots, and drawn gamma and beta.
#pragma once

#include <algorithm>

#include "prover/core/stage.hpp"
#include "prover/prove/backend.hpp"
#include "prover/transcript/transcript.hpp"

namespace epochd::prover {

inline void push_digest(std::vector<u64>& words, const Digest& d) {
  for (const u64 w : d.words) words.push_back(w);
}
inline void push_elements(std::vector<u64>& words, std::span<const Fp3> values) {
  for (const Fp3& v : values) {
    words.insert(words.end(), {v.c0.value(), v.c1.value(), v.c2.value()});
  }
}

/// Query indices as the gather wants them: sorted, each once.
inline std::vector<u32> sorted_unique(std::vector<u32> indices) {
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

struct Challenges {
  Fp3 gamma, beta;
};

inline Challenges draw_lookup_challenges(Transcript& t) {
  Fp3 gb[2];
  t.draw("lookup/gamma beta", gb, 2);
  return {gb[0], gb[1]};
}

/// zeta outside F, so that it is on no domain.
inline Fp3 draw_zeta(Transcript& t) {
  Fp3 zeta = t.draw("quotient/zeta");
  while (is_base(zeta)) zeta = t.draw("quotient/zeta");
  return zeta;
}

template <ProverSession S>
Digest commit_stage(S& session, u32 tree, StageListener* stages, const char* name) {
  const Stage stage(stages, name);
  return session.commit(tree);
}

/// Rounds 5 to 8: DEEP, FRI, grinding, query data.
template <ProverSession S>
void prove_low_degree(S& session, Transcript& transcript, StageListener* stages,
                      std::vector<u64>& words) {
  const Layout& layout = session.layout();
  {
    const Stage stage(stages, "deep");
    session.deep(transcript.draw("deep/delta"));
  }
  {
    const Stage stage(stages, "fri");
    for (u32 step = 0; step < layout.fri_step_count; ++step) {
      const Digest root = session.fri_commit();
      push_digest(words, root);
      transcript.absorb_digest("fri/layer", root);
      session.fri_fold(transcript.draw("fri/beta"));
    }
    std::vector<Fp3> coefficients(size_t{1} << layout.fri_final_log);
    session.fri_final(coefficients);
    push_elements(words, coefficients);
    transcript.absorb("fri/final", coefficients.data(), coefficients.size());
  }
  const Preset& preset = *layout.shape.preset;
  u64 nonce = 0;
  {
    const Stage stage(stages, "grind");
    nonce = session.grind(transcript.state(), preset.grinding_bits);
  }
  words.push_back(nonce);
  transcript.absorb_words("grind", &nonce, 1);
  std::vector<u32> queries(preset.query_count);
  transcript.draw_indices("queries", layout.log_domain(), queries.data(), queries.size());
  const Stage stage(stages, "gather");
  session.gather(sorted_unique(std::move(queries)), words);
}

/// Appends the argument to `words`, in the order the verifier reads it: LogUp root, L's, quotient
/// root, openings, FRI roots, final coefficients, nonce, query data.
template <ProverSession S>
void prove_argument(S& session, Transcript& transcript, const Challenges& lookup,
                    std::vector<u64>& words, StageListener* stages = nullptr) {
  const Layout& layout = session.layout();
  std::vector<Fp3> sums(layout.shape.table_count);
  {
    const Stage stage(stages, "logup");
    session.logup(lookup.gamma, lookup.beta, sums);
  }
  const Digest logup_root = commit_stage(session, layout.logup_tree(), stages, "commit logup");
  push_digest(words, logup_root);
  push_elements(words, sums);
  transcript.absorb_digest("lookup/root", logup_root);
  transcript.absorb("lookup/sums", sums.data(), sums.size());

  {
    const Stage stage(stages, "quotient");
    session.quotient(transcript.draw("quotient/alpha"));
  }
  const Digest quotient_root =
      commit_stage(session, layout.quotient_tree(), stages, "commit quotient");
  push_digest(words, quotient_root);
  transcript.absorb_digest("quotient/root", quotient_root);

  std::vector<Fp3> openings(layout.opening_count);
  {
    const Stage stage(stages, "open");
    session.open(draw_zeta(transcript), openings);
  }
  push_elements(words, openings);
  transcript.absorb("openings", openings.data(), openings.size());
  prove_low_degree(session, transcript, stages, words);
}

}  // namespace epochd::prover
